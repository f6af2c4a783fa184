/** An operator's calls to a whole system. */
import type { System } from '../../dev/system.ts'

/** Returns the body of the response, and throws if the call is refused. A text is sent as CSV. */
export async function admin<Body = Record<string, unknown>>(
  { originUrl, adminToken }: Pick<System, 'originUrl' | 'adminToken'>,
  method: string,
  path: string,
  body?: object | string,
): Promise<Body> {
  const response = await fetch(`${originUrl}/admin${path}`, {
    method,
    headers: {
      authorization: `Bearer ${adminToken}`,
      'content-type': typeof body === 'string' ? 'text/csv' : 'application/json',
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} responded ${response.status}: ${text}`)
  return (text === '' ? {} : JSON.parse(text)) as Body
}
