/** The token route of a shop with sessions of iron-session, of which `account` is the id of who is signed in. */
import { getIronSession, webCookies } from 'iron-session'
import { lineSession } from './line-session.ts'

export async function GET(request: Request): Promise<Response> {
  const options = { cookieName: 'shop', password: process.env.SESSION_PASSWORD ?? '' }
  const session = await getIronSession<{ account?: string }>(webCookies(request, new Headers()), options)
  return lineSession(request, session.account)
}
