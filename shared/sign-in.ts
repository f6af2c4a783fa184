/**
 * OpenID Connect as both halves use it: the authorization code flow with PKCE, state and nonce. Operators sign in at
 * the origin, visitors at the edge. These functions do not call the service.
 */
import * as oidc from 'openid-client'

/** What the browser keeps while its user is at the service. */
export interface SignInAttempt {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** Returns the address to which the browser is redirected, and what it must keep. */
export async function beginSignIn(
  service: oidc.Configuration,
  redirectUri: string,
  scope: string,
): Promise<{ url: string; attempt: SignInAttempt }> {
  const attempt = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() }
  const url = oidc.buildAuthorizationUrl(service, {
    redirect_uri: redirectUri,
    scope,
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(attempt.verifier),
    code_challenge_method: 'S256',
  })
  return { url: url.href, attempt }
}

/** What the service's answer to an attempt must agree with. */
export const checksOf = ({ state, nonce, verifier }: SignInAttempt): oidc.AuthorizationCodeGrantChecks => ({
  expectedState: state,
  expectedNonce: nonce,
  pkceCodeVerifier: verifier,
  idTokenExpected: true,
})

/**
 * A client without a secret proves itself by PKCE alone. The secret is sent as a header, unless the service says that
 * it reads only the body.
 */
export function clientAuth(secret: string | undefined): oidc.ClientAuth {
  if (secret === undefined) return oidc.None()
  const [asHeader, inBody] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)]
  return (service, ...rest) => {
    const accepted = service.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    return (accepted.includes('client_secret_basic') ? asHeader : inBody)(service, ...rest)
  }
}
