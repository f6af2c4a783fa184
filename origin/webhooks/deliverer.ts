/**
 * Sends the messages that wait in the ledger: at least once each, in order within a lane, to each endpoint apart from the
 * others. A message is claimed for a time before it is sent, so that any number of workers may run, and one may die.
 */
import type { Logger } from 'pino'
import type { Load } from '../checkout/load-shedder.ts'
import { closeAbout, NO_SALE, openFinding } from '../findings/finding-queries.ts'
import type { Sql } from '../ledger/connection.ts'
import { Batcher } from '../lib/batcher.ts'
import type { Metrics } from '../lib/metrics.ts'
import { afterAttempt, HEALTHY, type Health, isFailing, roomFor, shareOf, waitAfter } from './pace.ts'
import { ANSWER_TIMEOUT_MS, CONNECTIONS, type Sender, type Sent } from './sender.ts'
import { signedHeaders } from './signing.ts'
import {
  abandonOld,
  backlogOf,
  type Claimed,
  claimDeliveries,
  type Endpoint,
  endpointsDue,
  hasten,
  noteOutcomes,
  type Outcome,
  pauseEndpoint,
} from './webhook-queries.ts'

/** Messages claimed for one endpoint and not sent yet: what a round of CLAIM_EVERY_MS sends at best. */
const CLAIMED = 4 * CONNECTIONS
/** Fewer than these are claimed together with the next ones: a claim costs the ledger as much as a dozen messages. */
const MIN_CLAIM = CONNECTIONS
/** All that is claimed has been tried by then, each connection taking as long as it may. */
const LEASE_MS = (CLAIMED / CONNECTIONS) * ANSWER_TIMEOUT_MS + 30_000
const GONE = 410
/** A worker that has just begun sends first what has waited for it. */
const ABANDON_AFTER_MS = 15 * 60_000
/** The next message of a lane waits for the next round in any case. */
const OUTCOMES = { size: 500, queue: 10_000, pauseMs: 50 }

interface DelivererDeps {
  readonly sql: Sql
  readonly sender: Pick<Sender, 'send' | 'close'>
  readonly metrics: Pick<Metrics, 'webhooks' | 'webhookBacklog' | 'webhookAge' | 'findings'>
  readonly log: Logger
  readonly load: () => Load
}

/** What this worker has claimed for an endpoint. */
interface Lot {
  endpoint: Endpoint
  health: Health
  readonly waiting: Claimed[]
  sending: number
  /** Claimed and without a noted outcome. */
  open: number
}

export class Deliverer {
  readonly #deps: DelivererDeps
  readonly #lots = new Map<string, Lot>()
  readonly #outcomes: Batcher<Outcome, undefined>
  readonly #beganMs = performance.now()
  #roundMs = performance.now()
  #stopped = false

  constructor(deps: DelivererDeps) {
    this.#deps = deps
    this.#outcomes = new Batcher(OUTCOMES, async (outcomes) => {
      await this.#note(outcomes)
      return outcomes.map(() => undefined)
    })
  }

  /** Claims what is due, and begins to send it. */
  async round(): Promise<void> {
    const endpoints = await endpointsDue(this.#deps.sql)
    const nowMs = performance.now()
    const share = shareOf(this.#deps.load(), nowMs - this.#roundMs, endpoints.length, CLAIMED)
    this.#roundMs = nowMs
    await Promise.all(endpoints.map((endpoint) => this.#claim(endpoint, share)))
    for (const [id, { open, health }] of this.#lots) if (open === 0 && health === HEALTHY) this.#lots.delete(id)
  }

  async #claim(endpoint: Endpoint, most: number): Promise<void> {
    const { endpoint_id } = endpoint
    const lot = this.#lots.get(endpoint_id) ?? { endpoint, health: HEALTHY, waiting: [], sending: 0, open: 0 }
    this.#lots.set(endpoint_id, lot)
    lot.endpoint = endpoint
    const room = roomFor(lot.health, lot.open, CLAIMED, performance.now())
    if (room <= 0 || (room < MIN_CLAIM && lot.open > 0) || this.#stopped) return
    const claimed = await claimDeliveries(this.#deps.sql, endpoint_id, Math.min(room, most), LEASE_MS)
    lot.open += claimed.length
    lot.waiting.push(...claimed)
    this.#sendWaiting(lot)
  }

  #sendWaiting(lot: Lot): void {
    // The others of the lot come back later: one message at a time is enough to see whether the endpoint answers.
    const isHeldBack = this.#stopped || (isFailing(lot.health) && lot.open > 1)
    if (isHeldBack) {
      for (const message of lot.waiting.splice(0)) void this.#end(lot, message, null)
      return
    }
    while (lot.sending < CONNECTIONS) {
      const message = lot.waiting.shift()
      if (!message) return
      lot.sending++
      void this.#send(lot, message)
    }
  }

  async #send(lot: Lot, message: Claimed): Promise<void> {
    const { url, secrets } = lot.endpoint
    const isProbe = isFailing(lot.health)
    const headers = signedHeaders(secrets, message.message_id, message.body, Date.now())
    const sent = await this.#deps.sender.send(url, headers, message.body)
    lot.sending--
    const wasFailing = isFailing(lot.health)
    lot.health = afterAttempt(lot.health, { succeeded: sent.error === null, isProbe }, performance.now())
    if (isFailing(lot.health) && !wasFailing) this.#deps.log.warn({ url, error: sent.error }, 'webhook endpoint fails')
    await this.#end(lot, message, sent)
    if (wasFailing && sent.error === null) await this.#recovered(lot.endpoint)
    if (sent.status === GONE) await this.#gone(lot.endpoint)
  }

  /** `sent` is null for a message that was claimed, and not sent. */
  async #end(lot: Lot, { delivery_id, attempts }: Claimed, sent: Sent | null): Promise<void> {
    const outcome = sent === null ? 'returned' : sent.error === null ? 'delivered' : 'failed'
    if (outcome !== 'returned') this.#deps.metrics.webhooks.inc({ outcome })
    const waitMs = outcome === 'failed' ? waitAfter(attempts + 1) : 0
    const noted = {
      delivery: delivery_id,
      outcome,
      waitMs,
      status: sent?.status ?? null,
      error: sent?.error ?? null,
    } as const
    // If the ledger is away, the lease ends, and the message is sent again.
    await this.#outcomes.add(noted).catch((error) => this.#deps.log.warn({ error: String(error) }, 'outcome not noted'))
    lot.open--
    this.#sendWaiting(lot)
  }

  async #note(outcomes: readonly Outcome[]): Promise<void> {
    const { sql, metrics } = this.#deps
    await sql.begin(async (tx) => {
      const dead = await noteOutcomes(tx, outcomes)
      for (const { endpoint_id, error } of new Map(dead.map((one) => [one.endpoint_id, one])).values())
        await openFinding(tx, metrics, findingOf(endpoint_id, error))
    })
  }

  async #recovered({ endpoint_id, url }: Endpoint): Promise<void> {
    const { sql, log } = this.#deps
    log.info({ url }, 'webhook endpoint answers again')
    await hasten(sql, endpoint_id).catch(() => {})
    await closeAbout(sql, 'webhook_failed', [endpoint_id], 'it answers again').catch(() => {})
  }

  /** The endpoint asks for nothing more: a person must decide. */
  async #gone({ endpoint_id }: Endpoint): Promise<void> {
    const { sql, metrics, log } = this.#deps
    await sql
      .begin(async (tx) => {
        await pauseEndpoint(tx, endpoint_id)
        await openFinding(tx, metrics, findingOf(endpoint_id, 'paused, since it answered 410 Gone'))
      })
      .catch((error) => log.warn({ error: String(error) }, 'endpoint not paused'))
  }

  /** Sets aside what nobody could send in its time, and measures what waits. */
  async watch(): Promise<void> {
    const { sql, metrics } = this.#deps
    const { pending, oldest_seconds } = await backlogOf(sql)
    metrics.webhookBacklog.set({}, pending)
    metrics.webhookAge.set({}, oldest_seconds)
    if (performance.now() - this.#beganMs < ABANDON_AFTER_MS) return
    await sql.begin(async (tx) => {
      for (const { endpoint_id } of await abandonOld(tx))
        await openFinding(tx, metrics, findingOf(endpoint_id, 'messages were not sent in time'))
    })
  }

  /** Ends the claims that are not sent yet; resolves once those under way have their outcome. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const lot of this.#lots.values()) this.#sendWaiting(lot)
    while ([...this.#lots.values()].some(({ open }) => open > 0))
      await new Promise((resolve) => setTimeout(resolve, 20))
    this.#deps.sender.close()
  }
}

const findingOf = (endpoint: string, error: string | null) => ({
  sale: NO_SALE,
  product: '',
  kind: 'webhook_failed' as const,
  subject: endpoint,
  detail: { endpoint, error },
})
