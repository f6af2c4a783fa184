/**
 * The OpenID Connect issuer of the edge's tests: `oidc-provider` on a port of its own, with its page at which any name
 * signs in. It starts with the first test that asks for it.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const EDGE = 'http://edge.test'
const CLIENT = {
  redirect_uris: [`${EDGE}/me/signed-in`],
  post_logout_redirect_uris: [`${EDGE}/`],
  response_types: ['code'],
  grant_types: ['authorization_code'],
}

async function start(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  // The package says how it is not ready for production, which tests need not hear.
  console.warn = () => {}
  console.info = () => {}
  const { Provider } = await import('oidc-provider')
  const provider = new Provider(url, {
    clients: [
      { ...CLIENT, client_id: 'edge', token_endpoint_auth_method: 'none' },
      { ...CLIENT, client_id: 'edge-with-secret', client_secret: 'the secret of the edge' },
      { ...CLIENT, client_id: 'another-shop', token_endpoint_auth_method: 'none' },
    ],
    cookies: { keys: ['the key of the issuer’s cookies'] },
  })
  server.on('request', provider.callback())
  return url
}

let started: Promise<string> | undefined

/** The address of the issuer. */
export function issuerUrl(): Promise<string> {
  started ??= start()
  return started
}
