/** Holds the answers to calls against the documents of docs/openapi. */

import { Answers } from '../../dev/openapi/violations.ts'
import buyers from '../../docs/openapi/buyers.json' with { type: 'json' }
import operators from '../../docs/openapi/operators.json' with { type: 'json' }
import payments from '../../docs/openapi/payments.json' with { type: 'json' }

const DOCUMENTS = {
  'docs/openapi/operators.json': new Answers(operators),
  'docs/openapi/buyers.json': new Answers(buyers),
}

/** Throws for an answer that the document of its interface does not describe. */
export function requireDescribed(method: string, url: string, { status, headers }: Response, body: unknown): void {
  const { pathname: path } = new URL(url)
  const name = path.startsWith('/admin/') ? 'docs/openapi/operators.json' : 'docs/openapi/buyers.json'
  const type = headers.get('content-type') ?? ''
  const violations = DOCUMENTS[name].violations({ method, path, status, type, body })
  if (violations.length > 0) throw new Error(`${name} does not describe an answer.\n${violations.join('\n')}`)
}

const OF_SHOP = new Answers(payments)

/** The same for the answer to a call that a shop has signed. */
export function requireDescribedToShop(
  method: string,
  path: string,
  { status, headers }: Response,
  body: unknown,
): void {
  const type = headers.get('content-type') ?? ''
  const violations = OF_SHOP.violations({ method, path, status, type, body })
  if (violations.length > 0)
    throw new Error(`docs/openapi/payments.json does not describe an answer.\n${violations.join('\n')}`)
}

/** The runtime's `fetch`, for a client whose answers are held against the documents. */
export const describedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '')
  if (isJson) requireDescribed(init?.method ?? 'GET', String(input), response, await response.clone().json())
  return response
}

/** The same for a message to an endpoint of a shop. */
export function requireDescribedMessage(message: { readonly type: string; readonly [field: string]: unknown }): void {
  const violations = DOCUMENTS['docs/openapi/operators.json'].messageViolations(message)
  if (violations.length > 0) throw new Error(`A message is not described.\n${violations.join('\n')}`)
}
