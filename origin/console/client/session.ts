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

const PATH = '/console/session'

export async function readSession(): Promise<void> {
  const { operator, oidc, shop: address } = await (await send(PATH)).json()
  offersService.value = oidc
  shop.value = address
  session.value = operator
}

export async function signIn(key: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  session.value = await (await send(PATH, { method: 'POST', headers, body: JSON.stringify({ key }) })).json()
}

export async function signOut(): Promise<void> {
  await send(PATH, { method: 'DELETE' })
  endSession()
}

function endSession(): void {
  session.value = null
  queries.clear()
}

const onError = (error: unknown) => {
  if (error instanceof ApiError && error.problem.status === 401) endSession()
}

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
    queries: { retry: false, networkMode: 'always' },
    mutations: { retry: false, networkMode: 'always' },
  },
})

/** True if the signed-in operator has this role. */
export function may(role: Role): boolean {
  const operator = session.value
  return operator !== null && operator !== 'unknown' && hasRole(operator.role, role)
}
