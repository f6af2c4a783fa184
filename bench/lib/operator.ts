/** Calls to the operators' API of a running system. */
import { UsageError } from '../../dev/lib/command.ts'

export interface OperatorAccess {
  readonly originUrl: string
  readonly adminToken: string
}

const CALL_TIMEOUT_MS = 120_000

export const codeOf = (error: Error) => (error.cause as { code?: string } | undefined)?.code ?? error.message

/** An operator's call; the body is CSV as text, or JSON. */
export async function admin(
  to: OperatorAccess,
  method: string,
  path: string,
  body?: object | string,
  timeoutMs = CALL_TIMEOUT_MS,
): Promise<Response> {
  const response = await fetch(`${to.originUrl}/admin${path}`, {
    method,
    headers: {
      authorization: `Bearer ${to.adminToken}`,
      'content-type': typeof body === 'string' ? 'text/csv' : 'application/json',
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((error: Error) => {
    throw new UsageError(`The origin at ${to.originUrl} does not respond (${codeOf(error)}).`)
  })
  if (response.ok) return response
  const text = (await response.text()).slice(0, 300)
  if (response.status === 401) throw new UsageError(`The origin at ${to.originUrl} refuses the admin token.`)
  throw new UsageError(`The origin responded ${response.status} to ${method} ${path}: ${text}`)
}
