/**
 * A stand-in, only for this machine, for the shop at which visitors sign in: a visitor who names an account is
 * signed in with it. It signs the sessions that the edge verifies, so that sales with sign-in, and rules about
 * claims, can be tried.
 *
 * The session is a cookie of this host. Browsers send a host's cookies to all of its ports, so the cookie reaches
 * the edge. Neither the edge nor the origin knows this server, so no deployment can use it.
 */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { getRequestListener } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { csrf } from 'hono/csrf'
import { decodeJwt, type JWTPayload } from 'jose'
import * as v from 'valibot'
import { type Html, heading, html } from '../../edge/pages/html.ts'
import { styleSheet } from '../lib/build.ts'
import { serveOnLoopback } from '../lib/loopback.ts'
import { LOOPBACK } from '../lib/processes.ts'

const SIGN_IN = '/demo/sign-in'
const KEYS = '/demo/jwks.json'
const STYLE = '/demo/style.css'
const COOKIE = 'shop_session'
/** A session lasts longer than any rehearsal. */
const SESSION_SECONDS = 26 * 3600
const [ISSUER, AUDIENCE, ALGORITHM] = ['demo-shop', 'flash-sale', 'ES256']
/** The names of this machine. A return address must have one of them, because anybody can invent a link. */
const LOCAL = new Set(['localhost', LOOPBACK])

export interface DemoShop {
  readonly signInUrl: string
  /** The edge's settings with which it accepts the shop's sessions. */
  readonly vars: Readonly<Record<string, string>>
  /** The session of an account, in the form of the cookie and of `X-Shop-Authorization`. */
  session(account: string, claims?: JWTPayload): string
  stop(): void
}

/** Starts the shop on a free port. Its key lives as long as the shop, so a new start ends all sessions. */
export async function startDemoShop(): Promise<DemoShop> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const kid = randomUUID()
  const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid, alg: ALGORITHM, use: 'sig' }] }
  const base64url = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const head = base64url({ alg: ALGORITHM, kid })
  // The signature is synchronous, unlike jose's, because the crowd of a rehearsal signs its sessions while it sends
  // its calls.
  const session = (account: string, claims: JWTPayload = {}) => {
    const iat = Math.floor(Date.now() / 1000)
    const exp = iat + SESSION_SECONDS
    const text = `${head}.${base64url({ ...claims, sub: account, iss: ISSUER, aud: AUDIENCE, iat, exp })}`
    return `${text}.${sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
  }
  const { body } = await styleSheet()
  const { fetch } = shopApp(jwks, body + OWN_STYLE, session)
  const listener = getRequestListener(fetch, { hostname: LOOPBACK, overrideGlobalObjects: false })
  const { url, stop } = await serveOnLoopback(listener)
  return {
    signInUrl: url + SIGN_IN,
    vars: {
      SHOP_JWKS_URL: url + KEYS,
      SHOP_ISSUER: ISSUER,
      SHOP_AUDIENCE: AUDIENCE,
      SHOP_COOKIE: COOKIE,
      SHOP_SIGN_IN_URL: `${url}${SIGN_IN}?return={return}`,
    },
    session,
    stop,
  }
}

function shopApp(jwks: object, style: string, session: DemoShop['session']): Hono {
  const app = new Hono()
  app.use(csrf())
  app.get(KEYS, (c) => c.json(jwks))
  app.get(STYLE, (c) => c.body(style, 200, { 'content-type': 'text/css' }))
  app.get(SIGN_IN, (c) => {
    const back = backTo(c.req.query('return'))
    const here = new URL(c.req.url)
    // A cookie belongs to one name of this machine: the one in the visitor's address.
    if (back && back.hostname !== here.hostname) {
      here.hostname = back.hostname
      return c.redirect(here.href)
    }
    return page(c, back)
  })
  app.post(SIGN_IN, async (c) => {
    const sent = v.safeParse(SignIn, await c.req.parseBody())
    const back = backTo(c.req.query('return'))
    if (!sent.success) return page(c, back, 422)
    const { account, tier, country, age } = sent.output
    const claims = { ...(tier && { tier }), ...(country && { country }), ...(age !== undefined && { age }) }
    const token = session(account, claims)
    setCookie(c, COOKIE, token, { path: '/', httpOnly: true, sameSite: 'Lax', maxAge: SESSION_SECONDS })
    return c.redirect(back?.href ?? SIGN_IN, 303)
  })
  app.post('/demo/sign-out', (c) => {
    deleteCookie(c, COOKIE, { path: '/' })
    return c.redirect(SIGN_IN + new URL(c.req.url).search, 303)
  })
  return app
}

const text = (max: number) => v.optional(v.pipe(v.string(), v.trim(), v.maxLength(max)), '')
/** The form's fields; an empty one counts as missing. */
const SignIn = v.object({
  account: v.pipe(v.string(), v.trim(), v.regex(/^[^\p{Cc}\p{Cs}]{1,100}$/u)),
  tier: text(50),
  country: v.pipe(text(2), v.toUpperCase()),
  age: v.pipe(
    text(3),
    v.regex(/^\d*$/),
    v.transform((age) => (age === '' ? undefined : Number(age))),
  ),
})

function backTo(address: string | undefined): URL | null {
  const url = address === undefined ? null : URL.parse(address)
  return url?.protocol === 'http:' && LOCAL.has(url.hostname) ? url : null
}

// -- The page -------------------------------------------------------------------------------------------------------

const OWN_STYLE = `
label.field + label.field { margin-top: 0.75rem; }
.field span { flex: 0 0 6rem; }
.field input { flex: 1 1 12rem; font: inherit; }
details .field { margin-top: 0.75rem; }
`

const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'"

function page(c: Context, back: URL | null, status: 200 | 422 = 200) {
  const query = back ? `?return=${encodeURIComponent(back.href)}` : ''
  const account = accountIn(getCookie(c, COOKIE))
  const field = (name: string, label: string, attributes: Html) =>
    html`<label class="field"><span>${label}</span> <input name="${name}" ${attributes}></label>`
  const signedIn =
    account !== null &&
    html`<form method="post" action="/demo/sign-out${query}" class="note">
      You are signed in as <b>${account}</b>. <button class="link">Sign out</button></form>`
  const body = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Sign in</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${STYLE}">
</head>
<body>
<header class="page row top"><p class="brand">Demo shop</p></header>
<main class="page">
${signedIn}
<section class="stack says">
  ${heading('Sign in', 'A stand-in for your shop: any name will do, and there is no password.')}
  <form method="post" action="${SIGN_IN}${query}">
    ${field('account', 'Account', html`required maxlength="100" autofocus autocomplete="username" autocapitalize="none" spellcheck="false"`)}
    <details>
      <summary>What the shop says of the account</summary>
      ${field('tier', 'Tier', html`maxlength="50" placeholder="gold" autocomplete="off"`)}
      ${field('age', 'Age', html`inputmode="numeric" pattern="[0-9]{1,3}" maxlength="3" autocomplete="off"`)}
      ${field('country', 'Country', html`pattern="[A-Za-z]{2}" maxlength="2" placeholder="DE" autocomplete="off"`)}
    </details>
    <button class="button">Sign in</button>
  </form>
</section>
</main>
</body>
</html>
`
  const headers = { 'content-security-policy': CONTENT_SECURITY_POLICY, 'cache-control': 'no-store' }
  return c.html(body, status, headers)
}

function accountIn(token: string | undefined): string | null {
  try {
    return token === undefined ? null : (decodeJwt(token).sub ?? null)
  } catch {
    return null
  }
}
