/** What every handler of the Worker is given, and the few answers they share. */
import { type Problem, problemResponse } from '../shared/problem.ts'
import type { Config, Env } from './config.ts'

/** One request on its way through the Worker. */
export interface Call {
  readonly request: Request
  readonly env: Env
  readonly ctx: ExecutionContext
  readonly config: Config
  /** True if it came over https: in production always, if only to the front that this Worker stands behind. */
  readonly secure: boolean
  readonly nowMs: number
}

export const NO_STORE = 'no-store'

/** Made once: the runtime takes a `Headers` as it is, and an object apart each time. */
const UNKEPT_JSON = new Headers({ 'content-type': 'application/json', 'cache-control': NO_STORE })

/** An answer that is nobody else's, or nobody else's a moment later. */
export function unkeptAnswer(body: object, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: UNKEPT_JSON })
}

export function problemAnswer(problem: Problem, cookies: readonly string[] = []): Response {
  const { status, headers, body } = problemResponse(problem)
  return withCookies(new Response(body, { status, headers }), cookies)
}

export function withCookies(response: Response, cookies: readonly string[]): Response {
  for (const value of cookies) response.headers.append('set-cookie', value)
  return response
}

/** A browser sends this with every request, and page script cannot forge it; it keeps tokens in cookies alone. */
export function isBrowser(request: Request): boolean {
  return request.headers.has('sec-fetch-site')
}

/**
 * What a page of another host has a browser send in a visitor's name. Neighbours under the same domain count as others:
 * SameSite=Lax gives our cookies to their forms as well.
 */
export function isForeignForm(request: Request): boolean {
  const from = request.headers.get('sec-fetch-site')
  return from !== null && from !== 'same-origin' && from !== 'none'
}

export function wantsHtml(request: Request): boolean {
  return request.headers.get('accept')?.includes('text/html') ?? false
}

/** The page is for everyone who does not ask for JSON. */
export function wantsJson(request: Request): boolean {
  const accept = request.headers.get('accept') ?? ''
  return accept.includes('application/json') && !accept.includes('text/html')
}

/** True if the caller has what this tag names already (If-None-Match, RFC 9110, 13.1.2: weakly compared). */
export function isKnown(request: Request, etag: string): boolean {
  const known = request.headers.get('if-none-match')
  if (known === null || known === etag) return known !== null
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '')
  return known.split(',').some((tag) => tag.trim() === '*' || opaque(tag) === opaque(etag))
}

/** Back to a page after a form was sent. */
export function seeOther(location: string, cookies: readonly string[] = []): Response {
  const headers = { location, 'cache-control': NO_STORE }
  return withCookies(new Response(null, { status: 303, headers }), cookies)
}
