/**
 * The routes for signing in to the console at the company's own service: `/console/sign-in` redirects there, and
 * `/console/signed-in` is the way back.
 */
import { type Context, Hono } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { Logger } from 'pino'
import * as v from 'valibot'
import { tryParse } from '../../shared/parse.ts'
import type { Config } from '../base/config.ts'
import type { ConsoleFiles } from './console-files.ts'
import { isSecure, pageHeaders, setSession } from './console-routes.ts'
import type { Operators } from './operators.ts'
import { SignInService } from './sign-in-service.ts'

/** The attempt lasts long enough to find one's phone. */
const ATTEMPT_SECONDS = 600
const Attempt = v.object({ state: v.string(), nonce: v.string(), verifier: v.string() })
const cookieName = (secure: boolean) => (secure ? '__Host-sign-in' : 'sign-in')

interface SignInDeps {
  readonly config: Pick<Config, 'NODE_ENV' | 'oidc'>
  readonly operators: Operators
  readonly files: ConsoleFiles
  readonly log: Logger
}

/** The routes are mounted below `/console`. Without a configured service there are none. */
export function signInRoutes({ config, operators, files, log }: SignInDeps): Hono {
  const app = new Hono()
  if (!config.oidc) return app
  const service = new SignInService(config.oidc)
  const page = (c: Context, status: 400 | 403 | 503, title: string, text: string) =>
    c.body(files.message(title, text), status, { ...pageHeaders(), 'cache-control': 'no-store' })

  app.get('/sign-in', async (c) => {
    try {
      const { url, attempt } = await service.begin()
      // The cookie is Lax, because the redirect back starts at another site.
      const secure = isSecure(c, config)
      setCookie(c, cookieName(secure), Buffer.from(JSON.stringify(attempt)).toString('base64url'), {
        path: '/',
        secure,
        httpOnly: true,
        sameSite: 'Lax',
        maxAge: ATTEMPT_SECONDS,
      })
      c.header('cache-control', 'no-store')
      return c.redirect(url)
    } catch (error) {
      log.warn({ error: String(error) }, 'sign-in service away')
      return page(c, 503, 'The sign-in service does not answer', 'Try again in a moment, or sign in with a key.')
    }
  })

  app.get('/signed-in', async (c) => {
    const secure = isSecure(c, config)
    const attempt = attemptOf(c, cookieName(secure))
    deleteCookie(c, cookieName(secure), { path: '/', secure })
    if (!attempt) return page(c, 400, 'This sign-in is over', 'It took longer than ten minutes, or began elsewhere.')
    try {
      const { identity, name: called, role } = await service.end(new URL(c.req.url).search, attempt)
      const name = await operators.signedIn(identity, called, role)
      if (!role) {
        log.warn({ operator: name }, 'signed in without a role')
        return page(
          c,
          403,
          'You have no role here',
          `${name} is signed in, but may not use this console. Ask an owner.`,
        )
      }
      setSession(c, await operators.beginSession({ name, role }, false), secure)
      c.header('cache-control', 'no-store')
      return c.redirect('/console')
    } catch (error) {
      log.warn({ error: String(error), cause: String((error as Error).cause ?? '') }, 'sign-in failed')
      return page(c, 400, 'Signing in did not work', 'The answer of the sign-in service was refused. Try again.')
    }
  })
  return app
}

function attemptOf(c: Context, name: string) {
  const kept = getCookie(c, name)
  if (kept === undefined) return undefined
  try {
    return tryParse(Attempt, JSON.parse(Buffer.from(kept, 'base64url').toString()))
  } catch {
    return undefined
  }
}
