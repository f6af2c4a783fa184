/**
 * Signs operators in at the company's own service by OpenID Connect: the authorization code flow with PKCE, state and
 * nonce. The service decides a person's role by a claim of the ID token.
 */
import * as oidc from 'openid-client'
import { hasRole, type Operator, ROLES, type Role, TAKEN_NAMES } from '../../shared/api/operators/roles.ts'
import { beginSignIn, checksOf, clientAuth, type SignInAttempt } from '../../shared/sign-in.ts'
import type { OidcConfig } from '../base/config.ts'
import type { Identity } from './operator-queries.ts'

/** The path of the console to which the service redirects. */
const SIGNED_IN_PATH = '/console/signed-in'
const SCOPE = 'openid email profile'
const TIMEOUT_SECONDS = 10
const LONGEST_NAME = 200

export class SignInService {
  readonly #config: OidcConfig
  readonly #signedInUrl: string
  #found: Promise<oidc.Configuration> | undefined

  constructor(config: OidcConfig) {
    this.#config = config
    this.#signedInUrl = new URL(SIGNED_IN_PATH, config.CONSOLE_URL).href
  }

  /** Returns the address to which the browser is redirected, and the state that it must keep. */
  async begin(): Promise<{ url: string; attempt: SignInAttempt }> {
    return beginSignIn(await this.#discover(), this.#signedInUrl, SCOPE)
  }

  /**
   * The person who returned with this query; `role` is missing if they have no role here. Throws if they did not sign
   * in.
   */
  async end(query: string, attempt: SignInAttempt): Promise<{ identity: Identity; name: string; role?: Role }> {
    const tokens = await oidc.authorizationCodeGrant(
      await this.#discover(),
      Object.assign(new URL(this.#signedInUrl), { search: query }),
      checksOf(attempt),
    )
    const claims = tokens.claims()
    if (!claims) throw new Error('there is no ID token')
    return { identity: { issuer: claims.iss, sub: claims.sub }, ...operatorIn(claims, this.#config) }
  }

  /** Reads the service's configuration once. A failure is not remembered, so the next attempt reads again. */
  #discover(): Promise<oidc.Configuration> {
    const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: id, OIDC_CLIENT_SECRET: secret } = this.#config
    this.#found ??= oidc
      .discovery(new URL(issuer), id, undefined, clientAuth(secret), {
        timeout: TIMEOUT_SECONDS,
        // The settings allow plain HTTP only for a service on this machine.
        execute: issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [],
      })
      .catch((error) => {
        this.#found = undefined
        throw error
      })
    return this.#found
  }
}

type Claims = Readonly<Record<string, unknown>>

/** The name and the highest role that the claims give. */
export function operatorIn(
  claims: Claims,
  { OIDC_ROLE_CLAIM: claim, OIDC_ROLES: roles }: Pick<OidcConfig, 'OIDC_ROLE_CLAIM' | 'OIDC_ROLES'>,
): Omit<Operator, 'role'> & { role?: Role } {
  const values = [claims[claim]].flat().filter((value) => typeof value === 'string')
  const held = values.flatMap((value) => (Object.hasOwn(roles, value) ? (roles[value] ?? []) : []))
  const role = ROLES.findLast((one) => held.some((has) => hasRole(has, one)))
  return { name: nameIn(claims), ...(role && { role }) }
}

/**
 * The person's name, which they may choose themselves. No name may look like the admin token or this system in the
 * audit log.
 */
function nameIn({ email, email_verified, preferred_username, sub }: Claims): string {
  const names = [email_verified === false ? undefined : email, preferred_username, sub]
  const name = names.find(
    (one): one is string =>
      typeof one === 'string' &&
      /^[^\p{C}\s#]+$/u.test(one) &&
      one.length <= LONGEST_NAME &&
      !TAKEN_NAMES.includes(one.toLowerCase()),
  )
  if (name === undefined) throw new Error('the ID token has no name that can be used')
  return name
}
