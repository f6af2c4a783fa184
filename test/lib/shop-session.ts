/** Accounts of the run's stand-in for the shop, or of one of the test's own. */
import { sharedPart } from '../run/shared-part.ts'

/** Signs in as a browser does, and returns the headers with which an app passes the session on. */
export async function signedIn(account: string, claims: { tier?: string } = {}, signInUrl?: string) {
  const url = signInUrl ?? (await sharedPart('system')).signInUrl
  const response = await fetch(url, {
    method: 'POST',
    headers: { origin: new URL(url).origin },
    body: new URLSearchParams({ account, ...claims }),
    redirect: 'manual',
  })
  const [cookie = ''] = response.headers.getSetCookie()
  return { 'x-shop-authorization': `Bearer ${/=([^;]+)/.exec(cookie)?.[1]}` }
}
