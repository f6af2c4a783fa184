/**
 * A shop's own payment server in plain Node, as small as it can be and keep its promises (docs/payments.md). To connect
 * a payment provider, have `act` call that provider under the same ids. Here money is a line in a file.
 *
 *     PAYMENT_SECRET=whsec_.. WEBHOOK_URL=http://127.0.0.1:3000/webhooks/payment PORT=4000 FILE=charges.jsonl node
 *       examples/payment-server/server.ts
 *
 * The payment method decides, under the names of the sandbox, which our pages offer: `pm_ok` is authorized, `pm_slow` a
 * second later, `pm_3ds` needs its buyer at a page of this server, `pm_insufficient_funds` is declined with that code,
 * and any other one without.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const { PAYMENT_SECRET = '', WEBHOOK_URL = '', PORT = '0', FILE = 'charges.jsonl' } = process.env
const KEY = Buffer.from(PAYMENT_SECRET.replace(/^whsec_/, ''), 'base64')
if (KEY.length < 24) throw new Error('PAYMENT_SECRET: whsec_ and 24 bytes or more in base64 are required')
const TOLERANCE_SECONDS = 300
const MAX_BODY_BYTES = 64 * 1024
const LATER_MS = 1_000

interface Charge {
  readonly charge: string
  readonly order: string
  readonly reference: string
  readonly amount_minor: number
  readonly currency: string
  readonly return_url: string
  readonly status: 'authorized' | 'requires_action' | 'declined' | 'captured' | 'cancelled' | 'refunded' | 'pending'
  readonly code?: string
  readonly refunds: readonly { readonly reference: string; readonly refund?: string; readonly amount_minor: number }[]
  /** False until the origin has accepted a webhook about this state. */
  readonly told: boolean
}
interface Call {
  readonly call: 'authorize' | 'capture' | 'cancel' | 'refund' | 'state'
  readonly charge: string
  readonly order: string
  readonly amount_minor: number
  readonly currency: string
  readonly payment_method?: string
  readonly return_url?: string
  readonly refund?: string
}
class Refusal extends Error {
  readonly status: number
  constructor(status: number, code: string) {
    super(code)
    this.status = status
  }
}

// -- Records: a line for each state of a charge, the last one counts -----------------------------------------------

const charges = new Map<string, Charge>()
for (const line of existsSync(FILE) ? readFileSync(FILE, 'utf8').split('\n') : []) {
  // The last line may be torn, if this server ended while it wrote: what it says was not answered, and never happened.
  if (line.endsWith('}')) charges.set(JSON.parse(line).charge, JSON.parse(line))
}
// A torn line is ended, so that the next one begins a line of its own.
appendFileSync(FILE, '\n')

/** Writes a state, and only then has it count: whoever was answered finds it again after a restart. */
function save(charge: Charge): Charge {
  appendFileSync(FILE, `${JSON.stringify(charge)}\n`, { flush: true })
  charges.set(charge.charge, charge)
  if (!charge.told) void tell(charge)
  return charge
}
const move = (charge: Charge, change: Partial<Charge>) => save({ ...charge, ...change, told: false })

// -- The calls: each may come twice, at any time, and acts once ----------------------------------------------------

function act(id: string, call: Call): object {
  const known = charges.get(call.charge)
  if (call.call === 'authorize') return answer(known ? requireSame(known, call) : authorize(call))
  // A cancelled charge is noted even if it never came: a call to authorize it may still be on its way.
  if (call.call === 'cancel' && !known) return answer(save({ ...begun(call), status: 'cancelled', told: true }))
  if (!known) return { charge: call.charge, status: 'unknown' }
  if (call.call === 'capture' && known.status === 'authorized') return answer(move(known, { status: 'captured' }))
  if (call.call === 'cancel' && known.status !== 'captured' && known.status !== 'refunded')
    return answer(known.status === 'cancelled' ? known : move(known, { status: 'cancelled' }))
  if (call.call === 'refund' && known.status === 'captured') return answer(refund(id, known, call))
  return answer(known)
}

const begun = ({ charge, order, amount_minor, currency, return_url = '' }: Call) =>
  ({ charge, order, amount_minor, currency, return_url, reference: `pay_${charge}`, refunds: [] }) as const

/** What becomes of a payment method. Whoever asks hears what is not told. */
const OUTCOMES: Readonly<Record<string, Pick<Charge, 'status' | 'told'> & { readonly code?: string }>> = {
  pm_ok: { status: 'authorized', told: false },
  pm_slow: { status: 'pending', told: true },
  pm_3ds: { status: 'requires_action', told: true },
  pm_insufficient_funds: { status: 'declined', code: 'insufficient_funds', told: false },
}

function authorize(call: Call): Charge {
  if (call.payment_method === 'pm_slow') setTimeout(() => authorizeLater(call.charge), LATER_MS)
  return save({ ...begun(call), ...(OUTCOMES[call.payment_method ?? ''] ?? { status: 'declined', told: false }) })
}

function authorizeLater(id: string): void {
  const charge = charges.get(id)
  if (charge?.status === 'pending') move(charge, { status: 'authorized' })
}

function requireSame(known: Charge, { amount_minor, currency }: Call): Charge {
  if (known.amount_minor !== amount_minor || known.currency !== currency) throw new Refusal(422, 'other_amount')
  return known
}

function refund(id: string, charge: Charge, { amount_minor, refund }: Call): Charge {
  if (charge.refunds.some(({ reference }) => reference === id)) return charge
  const refunded = charge.refunds.reduce((sum, one) => sum + one.amount_minor, amount_minor)
  if (refunded > charge.amount_minor) throw new Refusal(422, 'more_than_is_left')
  const refunds = [...charge.refunds, { reference: id, ...(refund !== undefined && { refund }), amount_minor }]
  return move(charge, { refunds, status: refunded === charge.amount_minor ? 'refunded' : 'captured' })
}

function answer({ return_url: _, told: __, ...charge }: Charge): object {
  const next_action = { type: 'redirect', url: `${url}/checkout/${charge.charge}` }
  return { ...charge, ...(charge.status === 'requires_action' && { next_action }) }
}

// -- Signatures (Standard Webhooks) and webhooks -------------------------------------------------------------------

const sign = (content: string) => `v1,${createHmac('sha256', KEY).update(content).digest('base64')}`

function isSigned({ headers }: IncomingMessage, body: string): boolean {
  const [id, at, sent] = ['id', 'timestamp', 'signature'].map((name) => `${headers[`webhook-${name}`] ?? ''}`)
  if (!(Math.abs(Date.now() / 1000 - Number(at)) <= TOLERANCE_SECONDS)) return false
  const expected = Buffer.from(sign(`${id}.${at}.${body}`))
  const isSame = (one: Buffer) => one.length === expected.length && timingSafeEqual(one, expected)
  return `${sent}`.split(' ').some((one) => isSame(Buffer.from(one)))
}

/** Tells the origin of a state until it accepts it, or until the charge has another one. */
async function tell(charge: Charge): Promise<void> {
  const body = JSON.stringify(answer(charge))
  for (let attempt = 0; charges.get(charge.charge) === charge; attempt++) {
    const [id, at] = [`${charge.charge}-${charge.status}-${charge.refunds.length}`, Math.floor(Date.now() / 1000)]
    const signed = { 'webhook-id': id, 'webhook-timestamp': `${at}`, 'webhook-signature': sign(`${id}.${at}.${body}`) }
    const headers = { 'content-type': 'application/json', ...signed }
    const sent = fetch(WEBHOOK_URL, { method: 'POST', headers, body, signal: AbortSignal.timeout(5_000) })
    const isAccepted = await sent.then(({ ok }) => ok).catch(() => false)
    if (isAccepted && charges.get(charge.charge) === charge) return void save({ ...charge, told: true })
    await sleep(Math.min(60_000, 500 * 2 ** attempt))
  }
}

// -- HTTP ----------------------------------------------------------------------------------------------------------

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) {
    chunks.push(chunk)
    if (chunks.reduce((sum, { length }) => sum + length, 0) > MAX_BODY_BYTES) throw new Refusal(413, 'too_large')
  }
  return Buffer.concat(chunks).toString()
}

const PAGE = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }

/** The buyer's page, and what they decide on it. */
function checkout(request: IncomingMessage, response: ServerResponse, charge: Charge, decision?: string): void {
  if (request.method !== 'POST')
    return void response.writeHead(200, PAGE).end(`<!doctype html><title>Pay</title><h1>${charge.amount_minor / 100}
      ${encodeURIComponent(charge.currency)}</h1><form method="post"><button formaction="?approve">Pay</button>
      <button formaction="?decline">Do not pay</button></form>`)
  if (charge.status === 'requires_action' && decision === 'approve') move(charge, { status: 'authorized' })
  if (charge.status === 'requires_action' && decision === 'decline')
    move(charge, { status: 'declined', code: 'authentication_failed' })
  response.writeHead(303, { location: charge.return_url }).end()
}

const server = createServer(async (request, response) => {
  const json = (status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  try {
    const [, id, decision] = /^\/checkout\/([^?]+)\??(.*)$/.exec(request.url ?? '') ?? []
    const charge = charges.get(id ?? '')
    if (charge) return checkout(request, response, charge, decision)
    if (request.method !== 'POST') throw new Refusal(404, 'not_found')
    const body = await textOf(request)
    if (!isSigned(request, body)) throw new Refusal(401, 'wrong_signature')
    json(200, act(`${request.headers['webhook-id']}`, JSON.parse(body)))
  } catch (error) {
    json(error instanceof Refusal ? error.status : 500, { code: `${(error as Error).message}` })
  }
}).listen(Number(PORT), '127.0.0.1')

let url = ''
server.once('listening', () => {
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const charge of charges.values()) {
    if (charge.status === 'pending') authorizeLater(charge.charge)
    else if (!charge.told) void tell(charge)
  }
  console.log(`payment server listening at ${url}`)
})
