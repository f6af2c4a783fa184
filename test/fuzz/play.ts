/**
 * A seeded fuzz of all routes of both halves. No input may cause a 5xx other than a 503 with a time to retry, a hang,
 * a stack trace in a body, or the end of a server.
 */
import { randomUUID } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serveOnLoopback } from '../../dev/lib/loopback.ts'
import type { Server } from '../../dev/lib/processes.ts'
import { type System, startSystem } from '../../dev/system.ts'
import { importSecrets, newKeySet } from '../../shared/keys.ts'
import { ADMISSION, QUEUE, signToken } from '../../shared/tokens.ts'
import { admin } from '../lib/operator.ts'
import { createSale } from '../lib/origin-process.ts'
import { saleOf } from '../lib/samples.ts'
import { ledgerDatabase } from '../lib/servers.ts'
import { visitorsOf } from '../lib/visitor.ts'
import { type Input, inputOf, type Material } from './inputs.ts'
import { type Answer, sender } from './send.ts'

/** The number of concurrent inputs. */
const AT_ONCE = 24
/** One report lists at most this many faults. */
const MAX_FAULTS = 10
/** The number of inputs in one test, so that the next one starts with new connections. */
const IN_A_TEST = 5_000

const FAST = { rate_per_second: 1000, max_inside: null }

/** A shop whose Queue-it connectors send their visitors to two of the sales. */
const QUEUE_IT = JSON.stringify([
  {
    ...{ customer: 'acme', secret: 'a-secret-of-the-fuzz-for-its-connectors', hosts: ['shop.example'] },
    events: { lobby: 'lobby', over: 'over' },
  },
])

let system: System
let material: Material
const shop = { issuer: 'shop', audience: 'sale' }
const keys = await generateKeyPair('ES256')
const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'shop', alg: 'ES256' }

export function fuzz(seed: number, inputs: number): void {
  let shopServer: Awaited<ReturnType<typeof serveOnLoopback>>
  beforeAll(async () => {
    shopServer = await serveOnLoopback((_, response) => void response.end(JSON.stringify({ keys: [jwk] })))
    const edgeVars = {
      ...{ SHOP_JWKS_URL: shopServer.url, SHOP_ISSUER: shop.issuer, SHOP_AUDIENCE: shop.audience },
      QUEUE_IT,
    }
    const { url: databaseUrl } = await ledgerDatabase()
    system = await startSystem({ databaseUrl, originEnv: { LOG_LEVEL: 'warn' }, edgeVars })
    material = await prepare()
  })
  afterAll(async () => {
    shopServer?.stop()
    await system?.stop()
  })

  const firsts = Array.from({ length: Math.ceil(inputs / IN_A_TEST) }, (_, i) => i * IN_A_TEST)
  test.each(firsts)(`bad inputs of seed ${seed}, from the one of index %i on, break nothing`, async (first) => {
    expect((await faultsFrom(seed, first, Math.min(first + IN_A_TEST, inputs))).join('\n\n')).toBe('')
  })

  test('afterwards both halves serve a new sale as if nothing had been', async () => {
    for (const url of [system.edgeUrl, system.originUrl, system.opsUrl])
      expect((await fetch(`${url}/healthz`)).status).toBe(200)
    await createSale(system, 'after', saleOf(5, { admission: FAST }))
    await buyerOf('after')
    expect(await Promise.race([system.failed, new Promise((now) => setImmediate(now, 'running'))])).toBe('running')
  })
}

async function faultsFrom(seed: number, first: number, end: number): Promise<string[]> {
  const { edgeUrl: edge, originUrl: origin, opsUrl: ops } = system
  const { send, close } = sender({ edge, origin, ops })
  const faults: string[] = []
  let next = first
  const play = async () => {
    for (let index = next++; index < end && faults.length < MAX_FAULTS; index = next++) {
      const input = inputOf(seed, index, material)
      const found = await send(input).then(
        (answers) => faultIn(answers, input),
        (error: Error) => `${error.name}: ${error.message}`,
      )
      if (found !== null)
        faults.push(`input ${index} of seed ${seed}: ${found}\n${JSON.stringify(input).slice(0, 2_000)}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, play))
  close()
  // If a caller disconnects in the middle of a body, the call to the origin ends too, and on a busy machine a call
  // may time out.
  return [
    ...faults,
    ...logged(system.origin, /unexpected error|store away/),
    ...logged(system.edge, /(request failed|did not serve)(?!.*(connection lost|TimeoutError))/),
  ]
}

const logged = (server: Server, what: RegExp) =>
  server
    .logTail()
    .split('\n')
    .filter((line) => what.test(line))

/** The fault in the responses to an input; null if there is none. */
function faultIn(answers: readonly Answer[], input: Input): string | null {
  const isBytes = 'bytes' in input
  if (!isBytes && answers.length === 0 && input.method !== 'TRACE') return 'no response'
  return answers.map((answer) => faultOf(answer, isBytes)).find((fault) => fault !== null) ?? null
}

/** A runtime returns these statuses for an unknown method or version of HTTP (RFC 9110, 15.6.2 and 15.6.6). */
const UNKNOWN_TO_HTTP = [501, 505]
const STACK = /\bat (async )?[\w.<>$ ]+ \(?(file:|node:|\/|worker\.js)|node_modules|\.ts:\d+|PostgresError|ReplyError/

function faultOf({ status, headers, body }: Answer, isBytes: boolean): string | null {
  if (STACK.test(body)) return `a stack trace in a body with ${status}: ${body.slice(0, 1_000)}`
  const isTold = status === 503 && headers['retry-after'] !== undefined
  const isKnown = status < 500 || isTold || (isBytes && UNKNOWN_TO_HTTP.includes(status))
  return isKnown ? null : `${status} ${body.slice(0, 500)}`
}

// -- The system under test ------------------------------------------------------------------------------------------

async function prepare(): Promise<Material> {
  const admission = FAST
  const access = { ...saleOf(1).access, invitation: 'required' } as const
  const lobby = new Date(Date.now() + 3_600_000).toISOString()
  await createSale(system, 'open', saleOf(1_000_000, { admission, limit_per_visitor: 100, hold_seconds: 600 }))
  await createSale(system, 'invited', saleOf(1_000, { admission, access }))
  await createSale(system, 'lobby', saleOf(1_000, { admission, opens_at: lobby }))
  await createSale(system, 'few', saleOf(1, { admission }))
  await createSale(
    system,
    'over',
    saleOf(1, { admission, opens_at: new Date(0).toISOString(), ends_at: new Date(1).toISOString() }),
  )
  await createSale(system, 'operated', saleOf(1_000, { admission }))
  const buyers = await Promise.all([buyerOf('open'), buyerOf('open'), buyerOf('few')])
  const orders = buyers.map(({ order }) => order)
  const good = buyers.flatMap(({ tokens }) => tokens)
  const { invitation } = await admin(system, 'POST', '/sales/invited/invitations/links', { uses: 1_000_000 })
  return {
    sales: ['open', 'open', 'open', 'invited', 'lobby', 'few', 'over', 'operated', 'unknown'],
    operated: 'operated',
    orders: [...orders, randomUUID()],
    tokens: [...good, ...good, ...good, ...(await badTokens())],
    sessions: await Promise.all([sessionOf('1 minute'), sessionOf('1 minute'), sessionOf('-1 minute')]),
    invitations: [String(invitation), 'SUMMER-24', 'NO-SUCH-CODE'],
    adminToken: system.adminToken,
    edgeToken: system.secrets.edgeToken,
  }
}

/** The tokens are signed by the right keys for the wrong times and sales, and by other keys. */
async function badTokens(): Promise<string[]> {
  const { queueKeys, admissionKeys } = system.secrets
  const iat = Math.floor(Date.now() / 1000)
  const claims = { sub: 'fuzz', sale: 'open', num: 1, jti: randomUUID(), iat, exp: iat + 300 }
  const past = { ...claims, exp: iat - 60 }
  const others = importSecrets(newKeySet())
  return Promise.all([
    ...[claims, past, { ...claims, sale: 'unknown' }, { ...claims, num: Number.MAX_SAFE_INTEGER }].flatMap((one) => [
      signToken(QUEUE, importSecrets(queueKeys), one),
      signToken(ADMISSION, importSecrets(admissionKeys), one),
    ]),
    signToken(QUEUE, others, claims),
    signToken(ADMISSION, others, claims),
  ])
}

const sessionOf = (expires: string) =>
  new SignJWT({ tier: 'gold' })
    .setProtectedHeader({ alg: 'ES256', kid: jwk.kid })
    .setSubject('customer-1')
    .setIssuer(shop.issuer)
    .setAudience(shop.audience)
    .setExpirationTime(expires)
    .sign(keys.privateKey)

/** Makes a visitor who joined, was called and has an order. */
async function buyerOf(sale: string) {
  const visitors = visitorsOf(system.edgeUrl, sale)
  const { body: joined } = await visitors.join()
  const { admission_token } = await visitors.called(joined)
  const { body: order } = await visitors.checkout(admission_token)
  expect(order.order_id).toBeDefined()
  return { order: order.order_id, tokens: [joined.queue_token, admission_token, order.order_token].map(String) }
}
