/** The token route of a shop with sessions of Auth.js (next-auth has the same `getToken` in `next-auth/jwt`). */
import { getToken } from '@auth/core/jwt'
import { lineSession } from './line-session.ts'

export async function GET(request: Request): Promise<Response> {
  const session = await getToken({ req: request, secret: process.env.AUTH_SECRET ?? '', secureCookie: true })
  return lineSession(request, session?.sub)
}
