/**
 * One whole system for a test run: an origin, the edge, and stand-ins for the shop at which visitors sign in and for
 * the service that checks Turnstile's tokens. Test files share it, each with its own sales and accounts, and no file
 * kills or stops a part of it.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LOOPBACK } from '../../dev/lib/processes.ts'
import { startDemoShop } from '../../dev/servers/demo-shop.ts'
import { type System, startSystem } from '../../dev/system.ts'
import { createDatabase } from './databases.ts'
import { LEDGER_TEMPLATE } from './one-postgres.ts'
import type { Part } from './shared-part.ts'

type Addresses = 'edgeUrl' | 'originUrl' | 'opsUrl' | 'adminToken' | 'databaseUrl' | 'redisUrl'

export interface RunSystem extends Pick<System, Addresses> {
  readonly signInUrl: string
}

/** The only token that the stand-in for Turnstile's service accepts. */
export const TURNSTILE_TOKEN = 'a-token-of-the-widget'
const TURNSTILE_SECRET = 'a-secret'

export async function startRunSystem(postgresUrl: string): Promise<Part<RunSystem>> {
  const [databaseUrl, shop, turnstile] = await Promise.all([
    createDatabase(postgresUrl, 'system', LEDGER_TEMPLATE),
    startDemoShop(),
    startTurnstile(),
  ])
  const { signInUrl } = shop
  const system = await startSystem({
    databaseUrl,
    originEnv: { LOG_LEVEL: 'warn', ALLOW_DIRECT: 'false' },
    edgeVars: {
      ...shop.vars,
      TURNSTILE_SITE_KEY: 'a-site-key',
      TURNSTILE_SECRET_KEY: TURNSTILE_SECRET,
      TURNSTILE_VERIFY_URL: `http://${LOOPBACK}:${(turnstile.address() as AddressInfo).port}`,
      // Numbers that nobody holds keep the last units back until their turn has passed, so turns are short; a browser
      // claims its turn within seconds. Calling more people than there are units makes some of them come too late.
      CLAIM_SECONDS: '40',
      ADMISSIONS_PER_UNIT: '5',
    },
  })
  const { edgeUrl, originUrl, opsUrl, adminToken, redisUrl } = system
  return {
    address: { edgeUrl, originUrl, opsUrl, adminToken, databaseUrl, redisUrl, signInUrl },
    async stop() {
      await system.stop()
      await shop.stop()
      turnstile.close()
    },
  }
}

async function startTurnstile() {
  const server = createServer(async (request, response) => {
    const body = new URLSearchParams((await request.toArray()).join(''))
    const success = body.get('secret') === TURNSTILE_SECRET && body.get('response') === TURNSTILE_TOKEN
    response.end(JSON.stringify({ success, 'error-codes': success ? [] : ['invalid-input-response'] }))
  })
  await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve))
  return server
}
