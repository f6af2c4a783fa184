/**
 * Serves the console under `/console`: its page and assets, and signing in. Everything else uses the operators' API.
 */
import { type Context, Hono } from 'hono'
import { deleteCookie, setCookie } from 'hono/cookie'
import * as v from 'valibot'
import { exactly } from '../../shared/api/fields.ts'
import { problem } from '../../shared/problem.ts'
import type { Config } from '../base/config.ts'
import { clientAddress } from '../lib/client-address.ts'
import { comparesTo, headerOf, NO_STORE, readBody, refuse } from '../lib/http/request.ts'
import type { Sales } from '../sales/sales.ts'
import type { ConsoleFiles } from './console-files.ts'
import { sessionCookie, sessionIn } from './operator-auth.ts'
import { ADMIN, adminTokensOf, type Operators, SESSION_SECONDS } from './operators.ts'
import { SignInAttempts } from './sign-in-attempts.ts'

const SignIn = exactly({
  key: v.pipe(v.string('text is required'), v.trim(), v.maxLength(500, 'at most 500 characters')),
})
/**
 * The policy allows nothing from other hosts except the framed previews, and pictures of goods as visitors load them.
 * Inline styles are allowed, because the charts set them.
 */
export const pageHeaders = (edge?: string) => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; " +
    `img-src 'self' data:${edge === undefined ? '' : ` ${new URL(edge).origin}`}; ` +
    `font-src 'self'; frame-src ${edge === undefined ? "'none'" : new URL(edge).origin}; ` +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
})
/** Browsers use https for this host for a year. */
const HSTS = 'max-age=31536000'
const KEPT = 'public, max-age=31536000, immutable'

interface ConsoleDeps {
  readonly config: Pick<
    Config,
    'ADDRESS_HEADER' | 'ADMIN_TOKEN' | 'ADMIN_TOKEN_ALSO' | 'EDGE_URL' | 'NODE_ENV' | 'PUBLIC_URL' | 'oidc'
  >
  readonly operators: Operators
  readonly files: ConsoleFiles
  readonly sales: Pick<Sales, 'find'>
}

export function consoleRoutes({ config, operators, files, sales }: ConsoleDeps): Hono {
  const shop = config.PUBLIC_URL ?? config.EDGE_URL
  const isAdmin = comparesTo(...adminTokensOf(config))
  const attempts = new SignInAttempts()
  const app = new Hono()
  if (isProduction(config))
    app.use(async (c, next) => {
      await next()
      c.header('strict-transport-security', HSTS)
    })

  app.post('/session', async (c) => {
    mustBeOurPage(c)
    const { key } = await readBody(c, SignIn)
    const operator = isAdmin(key) ? ADMIN : await operators.byKey(key)
    if (!operator) {
      // The limit counts only wrong keys, because others may share the address behind a proxy.
      const waitSeconds = attempts.failed(clientAddress(c, config.ADDRESS_HEADER))
      const tooMany = { detail: 'Too many attempts to sign in.', retry_after_seconds: waitSeconds }
      if (waitSeconds > 0) return refuse(problem('too-many-requests', tooMany))
      return refuse(problem('unauthorized', { detail: 'There is no operator with this key.' }))
    }
    setSession(c, await operators.beginSession(operator, operator !== ADMIN), isSecure(c, config))
    return c.json(operator, 201, NO_STORE)
  })

  app.get('/session', async (c) => {
    const cookie = sessionIn(c)
    const operator = (cookie && (await operators.bySession(cookie))) || null
    // If `oidc` is true, the page offers to sign in at the company's service. `shop` is the address of visitors'
    // pages, and `environment` is where this origin runs.
    const about = { oidc: config.oidc !== undefined, shop: shop ?? null, environment: config.NODE_ENV }
    return c.json({ operator, ...about }, 200, NO_STORE)
  })

  app.delete('/session', async (c) => {
    mustBeOurPage(c)
    const cookie = sessionIn(c)
    if (cookie) await operators.endSession(cookie)
    const secure = isSecure(c, config)
    deleteCookie(c, sessionCookie(secure), { path: '/', secure })
    return c.body(null, 204)
  })

  app.get('/assets/:name', (c) => {
    const asset = files.assets.get(c.req.param('name'))
    if (!asset) return refuse(problem('not-found'))
    return c.body(asset.body, 200, { 'content-type': asset.type, 'cache-control': KEPT })
  })

  const headers = pageHeaders(shop)
  // The page chooses its content by the address. If the sale cannot be looked up, it may exist.
  const isKnown = async (sale: string) => sale === 'new' || (await sales.find(sale).catch(() => true)) !== undefined
  app.get('/sales/:sale/*', async (c) => c.body(files.page, (await isKnown(c.req.param('sale'))) ? 200 : 404, headers))
  for (const path of ['/', '/*']) app.get(path, (c) => c.body(files.page, 200, headers))
  return app
}

/** A session lasts as long as a shift, and no page of another site can use it. */
export function setSession(c: Context, cookie: string, secure: boolean): void {
  setCookie(c, sessionCookie(secure), cookie, {
    path: '/',
    secure,
    httpOnly: true,
    sameSite: 'Strict',
    maxAge: SESSION_SECONDS,
  })
}

type Environment = Pick<Config, 'NODE_ENV'>
const isProduction = ({ NODE_ENV }: Environment) => NODE_ENV !== 'development'

/** It is always true in production. In development it depends on the header of a proxy that ends TLS. */
export const isSecure = (c: Context, config: Environment) =>
  isProduction(config) || (headerOf(c, 'x-forwarded-proto') ?? new URL(c.req.url).protocol).startsWith('https')

function mustBeOurPage(c: Context): void {
  const site = headerOf(c, 'sec-fetch-site')
  if (site !== undefined && site !== 'same-origin' && site !== 'none') refuse(problem('forbidden'))
}
