/**
 * A browser that signs in at the issuer of the tests (test/stand-ins/oidc-issuer.ts) and calls the edge: it keeps the
 * cookies of each host and follows redirects.
 */
import type { Env } from '../http/config.ts'
import { edgeEnv } from './origin.ts'
import { call } from './visitors.ts'

export const EDGE = 'http://edge.test'

/** The settings of an edge whose visitors sign in at the issuer, by default as a public client. */
export async function issuerEnv(changed: Partial<Record<keyof Env, string>> = {}): Promise<Env> {
  const { url } = await (await fetch(`${edgeEnv.ORIGIN_URL}/issuer`)).json<{ url: string }>()
  return { ...edgeEnv, SHOP_OIDC_ISSUER: url, SHOP_OIDC_CLIENT_ID: 'edge', ...changed } as Env
}

export class SignInBrowser {
  readonly #env: Env
  readonly #cookies = new Map<string, Map<string, string>>()

  constructor(env: Env) {
    this.#env = env
  }

  /** The cookies for a host, by name. */
  cookies(host = EDGE): Map<string, string> {
    const known = this.#cookies.get(host) ?? new Map<string, string>()
    this.#cookies.set(host, known)
    return known
  }

  /** Loads an address of the edge or of the issuer, without following a redirect. */
  async load(address: string, init: RequestInit & { headers?: Record<string, string> } = {}): Promise<Response> {
    const { origin, href } = new URL(address, EDGE)
    const cookie = [...this.cookies(origin)].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { accept: 'text/html', 'sec-fetch-site': 'same-origin', ...init.headers, cookie }
    const response =
      origin === EDGE
        ? await call(href.slice(EDGE.length), { ...init, headers }, this.#env)
        : await fetch(href, { redirect: 'manual', ...init, headers })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      const isDeleted = value === '' || /max-age=0|expires=Thu, 01 Jan 1970/i.test(line)
      if (isDeleted) this.cookies(origin).delete(name)
      else this.cookies(origin).set(name, value)
    }
    return response
  }

  /** Begins to sign in, and returns the address at the issuer. */
  async begin(back = '/'): Promise<URL> {
    const begun = await this.load(`/me/sign-in?return=${encodeURIComponent(back)}`)
    const location = begun.headers.get('location')
    if (begun.status !== 303 || location === null) throw new Error(`${begun.status} ${await begun.text()}`)
    return new URL(location)
  }

  /** Signs in at the issuer's own pages, and returns the address at the edge to which it redirects. */
  async signInAt(address: URL, login: string): Promise<string> {
    let next = address.href
    for (let steps = 0; steps < 12; steps++) {
      let response = await this.load(next)
      const prompt = /name="prompt" value="(\w+)"/.exec(response.ok ? await response.text() : '')?.[1]
      if (prompt !== undefined) {
        const body = new URLSearchParams({ prompt, login, password: 'any' })
        response = await this.load(next, { method: 'POST', body })
      }
      const location = response.headers.get('location')
      if (location === null) throw new Error(`${response.status} at ${next}`)
      next = new URL(location, next).href
      if (next.startsWith(EDGE)) return next
    }
    throw new Error(`too many redirects to ${next}`)
  }

  /** Signs in from the beginning to the edge's last redirect. */
  async signIn(login: string, back = '/'): Promise<Response> {
    return this.load(await this.signInAt(await this.begin(back), login))
  }

  /** Calls the edge as a page's script does. */
  async json<T>(path: string, method = 'GET'): Promise<T & { status?: unknown; type?: string }> {
    return (await this.load(path, { method, headers: { accept: 'application/json' } })).json()
  }
}
