/** How calls are made: JSON in and out, problems as errors, and repetitions where a call may be repeated. */
import { ProblemError } from './problems.ts'

/** A call that repeats itself gives up after so many failures one after the other. */
const MAX_FAILURES = 8
const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 30_000

export interface Sent {
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** JSON, or a file with its media type. */
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

export interface Answer<Body> {
  readonly body: Body
  readonly headers: Headers
}

export interface Connection {
  readonly url: string
  readonly fetch: typeof fetch
  readonly headers: Readonly<Record<string, string>>
}

/** The response to one call. Throws a ProblemError for any but a success, and what `fetch` throws. */
export async function send(to: Connection, method: string, path: string, sent: Sent = {}): Promise<Response> {
  const { token, headers, body, signal } = sent
  const file = fileIn(body)
  const type = file?.type ?? (body === undefined ? undefined : 'application/json')
  const response = await to.fetch(to.url + path, {
    method,
    redirect: 'manual',
    headers: {
      accept: 'application/json',
      ...to.headers,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(type !== undefined && { 'content-type': type }),
      ...headers,
    },
    ...(body !== undefined && { body: file ? file.file : JSON.stringify(body) }),
    ...(signal && { signal }),
  })
  if (response.ok) return response
  const text = await response.text()
  throw new ProblemError(response.status, fieldsIn(text), retryAfterMs(response.headers))
}

/** The same with the JSON of the answer, or its text. */
export async function call<Body>(to: Connection, method: string, path: string, sent?: Sent): Promise<Answer<Body>> {
  const response = await send(to, method, path, sent)
  const { headers } = response
  if (response.status === 204) return { body: undefined as Body, headers }
  const isJson = /[/+]json\b/.test(headers.get('content-type') ?? '')
  return { body: (isJson ? await response.json() : await response.text()) as Body, headers }
}

/**
 * Makes a call again while it fails for a while: no connection, overload, too many calls. It waits as long as it is
 * told to. Only for calls that may be repeated.
 */
export async function repeated<T>(make: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await make()
    } catch (error) {
      signal?.throwIfAborted()
      if (failures === MAX_FAILURES || !isPassing(error)) throw error
      await pause(pauseMs(error, failures), signal)
    }
  }
}

/** True for what may be over in a moment: a connection that failed, and answers that say so. */
const isPassing = (error: unknown) =>
  error instanceof ProblemError
    ? error.status >= 500 || error.type === 'too-many-requests' || error.status === 408
    : error instanceof TypeError

export function pauseMs(error: unknown, failures: number): number {
  const told = error instanceof ProblemError ? error.retryAfterMs : undefined
  const doubled = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
  return (told ?? doubled) * (1 + Math.random() / 2)
}

/** Waits. Rejects with the signal's reason as soon as it is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const leave = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', leave)
      resolve()
    }, ms)
    signal?.addEventListener('abort', leave, { once: true })
  })
}

function fileIn(body: unknown): { readonly file: BodyInit; readonly type: string } | undefined {
  const isFile = typeof body === 'object' && body !== null && 'file' in body && 'type' in body
  return isFile ? (body as { readonly file: BodyInit; readonly type: string }) : undefined
}

function fieldsIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

/** Retry-After is in seconds, or a date (RFC 9110, 10.2.3). */
function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get('retry-after')
  if (text === null) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}
