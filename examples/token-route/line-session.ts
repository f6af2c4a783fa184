/**
 * The token route of a shop whose own sessions are encrypted, which the waiting room cannot read: it makes of such a
 * session a short JWT for the waiting room, as a cookie, and returns there. auth-js.ts and iron-session.ts read the
 * session. docs/sign-in.md says how to set it up.
 */
import { importJWK, SignJWT } from 'jose'

const SECONDS = 3_600

/** The route `/line-session?return=..`, for the account that is signed in at the shop, if any. */
export async function lineSession(request: Request, account: string | undefined): Promise<Response> {
  const { LINE_KEY = '', LINE_URL = '', SHOP_URL = '', SHOP_DOMAIN = '' } = process.env
  const back = URL.parse(new URL(request.url).searchParams.get('return') ?? LINE_URL)
  if (back?.origin !== LINE_URL) return new Response('return must lead to the waiting room', { status: 400 })
  const signIn = `${SHOP_URL}/sign-in?callbackUrl=${encodeURIComponent(request.url)}`
  if (!account) return new Response(null, { status: 302, headers: { location: signIn } })
  const key = JSON.parse(LINE_KEY)
  const token = await new SignJWT({ iss: SHOP_URL, aud: 'line', sub: account })
    .setProtectedHeader({ alg: key.alg, kid: key.kid })
    .setIssuedAt()
    .setExpirationTime(`${SECONDS}s`)
    .sign(await importJWK(key))
  const cookie = `shop_session=${token}; Domain=${SHOP_DOMAIN}; Path=/; Max-Age=${SECONDS}; HttpOnly; Secure; SameSite=Lax`
  return new Response(null, { status: 302, headers: { location: back.href, 'set-cookie': cookie } })
}

/** The route `/line-session/keys`: the public half of the key. */
export function lineKeys(): Response {
  const { kty, crv, x, y, kid, alg } = JSON.parse(process.env.LINE_KEY ?? '')
  return Response.json({ keys: [{ kty, crv, x, y, kid, alg, use: 'sig' }] })
}
