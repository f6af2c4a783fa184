/** The signed-in operator, and the cache of data that were read in their name. */
import { signal } from '@preact/signals'
import { MutationCache, QueryCache, QueryClient } from '@tanstack/preact-query'
import { hasRole, type Operator, type Role } from '../../../shared/api/operators/roles.ts'
import { ApiError, send } from './api.ts'

/** The session is `unknown` until the origin has responded. */
export const session = signal<Operator | null | 'unknown'>('unknown')

/** True if operators can sign in at the company's own service. */
export const offersService = signal(false)

/** The address of visitors' pages; null if the origin is not configured with it. */
export const shop = signal<string | null>(null)

/** Where the origin runs: `production` or `development`; null until it has responded. */
export const environment = signal<string | null>(null)

/** The time at which the session ended while a page was open, in ms; null while it lasts. The page stays as it was. */
export const signedOutMs = signal<number | null>(null)

const PATH = '/console/session'

/** What the origin could not read, or a page not reach, is read again until it comes back. */
const AGAIN_MS = 5_000

/** Why the session could not be read; null once it is known. */
export const unreadSession = signal<unknown>(null)

/** Reads the session until the origin says whether there is one. */
export async function findSession(): Promise<void> {
  try {
    await readSession()
    unreadSession.value = null
  } catch (error) {
    unreadSession.value = error
    setTimeout(findSession, AGAIN_MS)
  }
}

export async function readSession(): Promise<void> {
  const { operator, oidc, shop: address, environment: name } = await (await send(PATH)).json()
  offersService.value = oidc
  shop.value = address
  environment.value = name
  begin(operator)
}

export async function signIn(key: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  begin(await (await send(PATH, { method: 'POST', headers, body: JSON.stringify({ key }) })).json())
}

/** The same operator goes on where they were; somebody else begins anew. */
function begin(operator: Operator | null): void {
  const before = session.value
  const isKept = before !== 'unknown' && before !== null && signedOutMs.value !== null
  if (isKept && operator === null) return
  if (isKept && operator?.name !== before.name) {
    queries.clear()
    history.replaceState(null, '', '/console')
  }
  signedOutMs.value = null
  session.value = operator
  if (isKept) void queries.invalidateQueries()
}

export async function signOut(): Promise<void> {
  await send(PATH, { method: 'DELETE' })
  session.value = null
  queries.clear()
}

/** What was typed stays on the page, under the dialog that asks to sign in. */
const onError = (error: unknown) => {
  if (error instanceof ApiError && error.problem.status === 401 && session.value !== null)
    signedOutMs.value ??= Date.now()
}

const isAway = (error: unknown) => error instanceof ApiError && [0, 502, 503, 504].includes(error.problem.status)

/**
 * Pages repeat their reads, also after every change. The network mode ignores the browser's opinion on being online,
 * because the origin decides that.
 */
export const queries = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({
    onError,
    onSettled: () => {
      void queries.invalidateQueries()
    },
  }),
  defaultOptions: {
    queries: {
      retry: false,
      networkMode: 'always',
      refetchInterval: ({ state }) => (isAway(state.error) ? AGAIN_MS : false),
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})

/** True if the signed-in operator has this role. */
export function may(role: Role): boolean {
  const operator = session.value
  return operator !== null && operator !== 'unknown' && hasRole(operator.role, role)
}
