/** The cookies with which each library says that an account is signed in. A shop's own sign-in sets them. */
import { encode } from '@auth/core/jwt'
import { sealData } from 'iron-session'

const AUTH_JS = '__Secure-authjs.session-token'

export const authJsCookie = async (account: string, secret: string): Promise<string> =>
  `${AUTH_JS}=${await encode({ secret, salt: AUTH_JS, token: { sub: account } })}`

export const ironSessionCookie = async (account: string, password: string): Promise<string> =>
  `shop=${await sealData({ account }, { password })}`
