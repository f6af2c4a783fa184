/** Makes the operations of operators: the words about a call from here, its schemas and its role from its route. */
import * as v from 'valibot'
import { declaredBy } from '../../../origin/lib/http/request.ts'
import { operatorRoutes } from '../../../origin/operators-api.ts'
import { IdempotencyKey } from '../../../shared/api/fields.ts'
import type { Role } from '../../../shared/api/operators/roles.ts'
import type { ProblemType } from '../../../shared/problem.ts'
import type { Answer, Method, Operation, Operations, Parameter, Schema } from '../document.ts'

/** The words about a call. */
export interface Call {
  readonly id: string
  readonly summary: string
  readonly description?: string
  /** The schema of a JSON body is the route's own, unless the route reads it without a middleware. */
  readonly body?: {
    readonly description: string
    readonly example?: unknown
    readonly schema?: Schema
    readonly optional?: true
    readonly files?: Readonly<Record<string, string | null>>
  }
  /** What the parameters of the query mean that COMMON does not explain. */
  readonly query?: Readonly<Record<string, string>>
  /** Parameters that the route reads without a schema. */
  readonly parameters?: Readonly<Record<string, Parameter>>
  /** True if the call may have an Idempotency-Key, or must. */
  readonly key?: 'optional' | 'required'
  /** True if the call may have the version that it was made for. */
  readonly isVersioned?: true
  readonly answers: Readonly<Record<number, Answer>>
  readonly problems?: readonly ProblemType[]
}

/** Calls by path, below `/admin`, and method. */
export type Calls = Readonly<Record<string, Readonly<Partial<Record<Method, Call>>>>>

const COMMON: Readonly<Record<string, string>> = {
  after: 'The `next` of the page before.',
  limit: 'The largest number of entries in the answer.',
  from: 'Entries before this time are left out.',
  to: 'Entries at or after this time are left out.',
  sale: 'The sale that the entries must belong to.',
  product: 'The product or section that a line of the order must have.',
  format: 'The form of the answer.',
}

const REPLAYED = { 'idempotency-replayed': 'Is `true` if the call was made before, and had no effect now.' }
const ETAG = { etag: 'The version, for If-Match.' }

// -- What routes declare --------------------------------------------------------------------------------------------

interface DeclaredRoute {
  readonly path: string
  readonly method: Method
  readonly role: Role
  readonly json?: Schema
  readonly query?: v.ObjectSchema<v.ObjectEntries, undefined>
}

/** Every route of operators, with what its middleware asks for. No route is called, so that they need no stores. */
function declaredRoutes(): DeclaredRoute[] {
  const none = {
    config: { ADMIN_TOKEN: '', payment: { perSecond: null } },
    sales: { requireSale: () => {} },
  } as unknown
  const { routes, router } = operatorRoutes(none as Parameters<typeof operatorRoutes>[0])
  const found = new Map<string, DeclaredRoute>()
  for (const { method: name, path } of routes) {
    if (name === 'ALL') continue
    const [handlers] = router.match(name, path)
    const declared = Object.assign({}, ...handlers.map(([[handler]]) => declaredBy(handler)))
    const method = name.toLowerCase() as Method
    const role = method === 'get' ? 'viewer' : 'operator'
    found.set(`${name} ${path}`, { role, ...declared, method, path: path.replaceAll(/:(\w+)/g, '{$1}') })
  }
  return [...found.values()]
}

// -- Operations -----------------------------------------------------------------------------------------------------

const routesByCall = new Map(declaredRoutes().map((route) => [`${route.method} ${route.path}`, route]))

export const operationsOf = (tag: string, calls: Calls): Operations =>
  Object.fromEntries(
    Object.entries(calls).map(([path, methods]) => [
      `/admin${path}`,
      Object.fromEntries(
        Object.entries(methods).map(([method, call]) => [method, operationOf(tag, path, method as Method, call)]),
      ),
    ]),
  )

function operationOf(tag: string, path: string, method: Method, call: Call): Operation {
  const route = routesByCall.get(`${method} ${path}`)
  if (!route) throw new Error(`There is no route ${method} ${path}.`)
  const { id, summary, description, body, key, isVersioned, answers, problems = [] } = call
  if (route.json === undefined ? body && !body.schema && !body.files : !body)
    throw new Error(`The body of ${method} ${path} is described, or asked for, in one place only.`)
  const schema = body?.schema ?? (body?.files ? undefined : route.json)
  const keyed = key && {
    'idempotency-key': {
      schema: IdempotencyKey,
      description: 'The same for each repetition of the call, which then has one effect.',
      ...(key === 'required' && { required: true as const }),
    },
  }
  const versioned = isVersioned && {
    'if-match': {
      schema: v.string(),
      description: 'The ETag that the change was made for. Without it the call overwrites what others did.',
    },
  }
  return {
    id,
    tag,
    summary,
    ...(description && { description }),
    callers: ['key', 'session'],
    role: route.role,
    query: { ...parametersOf(route, call.query), ...call.parameters },
    headers: { ...keyed, ...versioned },
    ...(body && { body: { ...body, ...(schema && { schema }) } }),
    answers: Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => [
        status,
        {
          ...answer,
          ...((key || isVersioned || answer.headers) && {
            headers: { ...(key && REPLAYED), ...(isVersioned && ETAG), ...answer.headers },
          }),
        },
      ]),
    ),
    problems: [
      ...(['unauthorized', 'forbidden'] as const),
      ...(path.includes('{sale}') ? (['unknown-sale'] as const) : []),
      ...(path.includes('{order}') ? (['unknown-order'] as const) : []),
      ...(route.query ? (['invalid-fields'] as const) : []),
      ...(body ? (['invalid-fields', 'body-too-large', 'unsupported-media-type'] as const) : []),
      ...(key ? (['idempotency-key-required', 'idempotency-key-reused'] as const) : []),
      ...(isVersioned ? (['changed-meanwhile'] as const) : []),
      ...problems,
    ],
  }
}

function parametersOf({ query, method, path }: DeclaredRoute, words: Call['query'] = {}) {
  return Object.fromEntries(
    Object.entries(query?.entries ?? {}).map(([name, schema]) => {
      const description = words[name] ?? COMMON[name]
      if (description === undefined) throw new Error(`The parameter ${name} of ${method} ${path} is not described.`)
      const isRequired = !['optional', 'exact_optional', 'nullish'].includes(schema.type)
      return [name, { schema: schema as Schema, description, ...(isRequired && { required: true as const }) }]
    }),
  )
}
