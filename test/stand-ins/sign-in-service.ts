/**
 * A stand-in for a company's sign-in service: the parts of OpenID Connect Core that a confidential client with PKCE
 * uses.
 */
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll } from 'vitest'

export const CLIENT = { id: 'console', secret: 'the secret of the console' }

interface Asked {
  readonly challenge: string
  readonly redirectUri: string
  readonly claims: JWTPayload
}

export function useSignInService() {
  const asked = new Map<string, Asked>()
  let url = ''
  const server = createServer(async (request, response) => {
    const { status = 200, body } = await answer(request)
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    response.end(JSON.stringify(body))
  })
  const keys = generateKeyPair('RS256')

  async function answer(request: IncomingMessage): Promise<{ status?: number; body: object }> {
    switch (request.url) {
      case '/.well-known/openid-configuration':
        return {
          body: {
            issuer: url,
            authorization_endpoint: `${url}/authorize`,
            token_endpoint: `${url}/token`,
            jwks_uri: `${url}/jwks`,
            response_types_supported: ['code'],
            subject_types_supported: ['public'],
            id_token_signing_alg_values_supported: ['RS256'],
            code_challenge_methods_supported: ['S256'],
          },
        }
      case '/jwks':
        return {
          body: { keys: [{ ...(await exportJWK((await keys).publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }] },
        }
      case '/token':
        return token(request)
      default:
        return { status: 404, body: {} }
    }
  }

  /** A code is valid once, for the client that has its secret, the address and the verifier of its challenge. */
  async function token(request: IncomingMessage) {
    let text = ''
    for await (const chunk of request) text += chunk
    const form = new URLSearchParams(text)
    const basic = [CLIENT.id, CLIENT.secret]
      .map((part) => new URLSearchParams([['', part]]).toString().slice(1))
      .join(':')
    const code = form.get('code') ?? ''
    const known = asked.get(code)
    asked.delete(code)
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (request.headers.authorization !== `Basic ${Buffer.from(basic).toString('base64')}`)
      return { status: 401, body: { error: 'invalid_client' } }
    if (
      form.get('grant_type') !== 'authorization_code' ||
      known?.challenge !== challenge ||
      known.redirectUri !== form.get('redirect_uri')
    )
      return { status: 400, body: { error: 'invalid_grant' } }
    const id_token = await new SignJWT(known.claims)
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .sign((await keys).privateKey)
    return { body: { access_token: randomUUID(), token_type: 'Bearer', expires_in: 60, id_token } }
  }

  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.close()
  })

  return {
    url: () => url,
    /** The query with which a browser returns from the authorization endpoint; `claims` go into the ID token. */
    signIn(authorization: string, claims: JWTPayload) {
      const { searchParams: given } = new URL(authorization)
      const [code, now] = [randomUUID(), Math.floor(Date.now() / 1000)]
      const nonce = given.get('nonce') ?? ''
      const usual = { iss: url, aud: given.get('client_id') ?? '', sub: 'person-1', iat: now, exp: now + 60, nonce }
      const redirectUri = given.get('redirect_uri') ?? ''
      asked.set(code, { challenge: given.get('code_challenge') ?? '', redirectUri, claims: { ...usual, ...claims } })
      return Object.assign(new URL(redirectUri), {
        search: `${new URLSearchParams({ code, state: given.get('state') ?? '' })}`,
      })
    },
  }
}
