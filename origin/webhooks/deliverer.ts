/**
 * Sends webhooks at least once each, in order within a lane, and to each endpoint at its own rate. Messages that are
 * taken for an endpoint wait here for one of its connections.
 */
import type { Logger } from 'pino'
import type { Metrics } from '../base/metrics.ts'
import { closeAbout, NO_SALE, openFinding } from '../findings/finding-queries.ts'
import type { Consumer, End } from '../jobs/job-runner.ts'
import { attemptOf, type Ended, type Job, type JobData, type Outcome, QUEUES, type WebhookTry } from '../jobs/queues.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { Tracer } from '../lib/tracing.ts'
import type { WebhookCounts } from './counts.ts'
import type { Load } from './pace.ts'
import { afterAttempt, HEALTHY, type Health, isFailing, isLasting, isResting, roomFor, shareOf } from './pace.ts'
import type { Endpoint, SecretSealer } from './sealing.ts'
import { ANSWER_TIMEOUT_MS, CONNECTIONS, type Sender } from './sender.ts'
import { signedHeaders } from './signing.ts'
import { activeEndpoints, backlogOf, giveUpOld, pauseEndpoint, retryNow, sealSecrets } from './webhook-queries.ts'

/**
 * The number of messages taken for one endpoint and not ended yet. It is large because taking them costs the ledger
 * as much as dozens of messages.
 */
const TAKEN = 16 * CONNECTIONS
/** The worker waits until there is room for at least this many messages before it takes more. */
const MIN_TAKEN = 4 * CONNECTIONS
/**
 * A message that a slow endpoint has kept waiting for this long is returned, because a late response must not outlast
 * the lease.
 */
const BEGUN_WITHIN_MS = QUEUES.webhook.leaseMs - ANSWER_TIMEOUT_MS - 5_000
const GONE = 410
/** A message keeps this many of its latest attempts, which are about half of those of a day. */
const KEPT_TRIES = 10
/** A worker that has just started first sends the waiting messages. */
const GIVE_UP_AFTER_MS = 15 * 60_000

interface DelivererDeps {
  readonly sql: Sql
  readonly sealer: SecretSealer
  readonly sender: Pick<Sender, 'send' | 'close'>
  readonly metrics: Pick<Metrics, 'webhooks' | 'webhookBacklog' | 'webhookAge' | 'findings'>
  readonly log: Logger
  readonly load: () => Load
  readonly counts: Pick<WebhookCounts, 'add'>
  readonly trace: Tracer['draw']
}

/** A message that this worker has taken. */
interface Message {
  readonly job: Job<'webhook'>
  readonly end: (outcome: Outcome) => Promise<void>
  readonly takenMs: number
}

/** The messages that this worker has taken for an endpoint. */
interface Channel {
  endpoint: Endpoint
  health: Health
  readonly waiting: Message[]
  sending: number
  /** The number of messages taken and not ended. */
  open: number
}

export class Deliverer implements Consumer<'webhook'> {
  readonly queue = 'webhook'
  readonly #deps: DelivererDeps
  readonly #channels = new Map<string, Channel>()
  readonly #beganMs = performance.now()
  #askedMs = performance.now()
  /** The number of endpoints with due messages at the last query. */
  #due = 1
  #stopped = false

  constructor(deps: DelivererDeps) {
    this.#deps = deps
  }

  async room() {
    const endpoints = await activeEndpoints(this.#deps.sql, this.#deps.sealer)
    const nowMs = performance.now()
    const share = shareOf(this.#deps.load(), nowMs - this.#askedMs, this.#due, TAKEN)
    this.#askedMs = nowMs
    this.#due = 1
    for (const [id, { open, health }] of this.#channels) if (open === 0 && health === HEALTHY) this.#channels.delete(id)
    if (this.#stopped) return []
    return endpoints.map((endpoint) => {
      const channel = this.#channelOf(endpoint)
      const room = roomFor(channel.health, channel.open, TAKEN, nowMs)
      const limit = room < MIN_TAKEN && channel.open > 0 ? 0 : Math.min(room, share)
      return { group: endpoint.endpoint_id, limit }
    })
  }

  async run(jobs: readonly Job<'webhook'>[], end: End<'webhook'>): Promise<void> {
    const byEndpoint = Map.groupBy(jobs, ({ group_id }) => group_id)
    this.#due = byEndpoint.size
    const ended: Promise<void>[] = []
    const takenMs = performance.now()
    for (const [id, messages] of byEndpoint) {
      const channel = this.#channels.get(id)
      if (!channel) continue
      channel.open += messages.length
      for (const job of messages) {
        const { promise, resolve } = Promise.withResolvers<void>()
        ended.push(promise)
        const endOne = async (outcome: Outcome) => {
          await end(job, outcome)
          channel.open--
          resolve()
        }
        channel.waiting.push({ job, end: endOne, takenMs })
      }
      this.#sendWaiting(channel)
    }
    await Promise.all(ended)
  }

  #channelOf(endpoint: Endpoint): Channel {
    const { endpoint_id } = endpoint
    const known = this.#channels.get(endpoint_id)
    const channel = known ?? { endpoint, health: HEALTHY, waiting: [], sending: 0, open: 0 }
    // An operator wants to know now whether it answers again.
    if (endpoint.tried_at && endpoint.tried_at.getTime() !== channel.endpoint.tried_at?.getTime())
      channel.health = { ...channel.health, probeAtMs: 0, restsUntilMs: 0 }
    channel.endpoint = endpoint
    this.#channels.set(endpoint_id, channel)
    return channel
  }

  #sendWaiting(channel: Channel): void {
    // One message at a time is enough to find out whether a failing endpoint responds; the others are returned for
    // later.
    const { health } = channel
    const isHeldBack = this.#stopped || isResting(health, performance.now()) || (isFailing(health) && channel.open > 1)
    if (isHeldBack) {
      for (const { end } of channel.waiting.splice(0)) void end({ end: 'returned' })
      return
    }
    while (channel.sending < CONNECTIONS) {
      const message = channel.waiting.shift()
      if (!message) return
      if (performance.now() - message.takenMs > BEGUN_WITHIN_MS) {
        void message.end({ end: 'returned' })
        continue
      }
      channel.sending++
      void this.#send(channel, message)
    }
  }

  async #send(channel: Channel, { job, end }: Message): Promise<void> {
    const { metrics, log, sender, trace } = this.#deps
    const { url, secrets } = channel.endpoint
    const isProbe = isFailing(channel.health)
    const { message, body } = job.data
    const [begun, beganMs] = [new Date(), performance.now()]
    const headers = signedHeaders(secrets, message, body, begun)
    const attributes = { 'server.address': new URL(url).hostname, ...attemptOf(job) }
    const sending = () => sender.send(url, headers, body)
    const { status, error, retryAfterMs } = await trace(
      'send webhook',
      attributes,
      sending,
      (sent) => sent.error !== null,
    )
    channel.sending--
    metrics.webhooks.inc({ outcome: error === null ? 'delivered' : 'failed' })
    const before = channel.health
    const nowMs = performance.now()
    this.#deps.counts.add(channel.endpoint.endpoint_id, error === null, Date.now())
    channel.health = afterAttempt(before, { succeeded: error === null, isProbe, retryAfterMs }, nowMs)
    if (isFailing(channel.health) && !isFailing(before)) log.warn({ url, error }, 'webhook endpoint fails')
    const isOver = error === null && (isFailing(before) || isLasting(before, job.attempt, nowMs))
    // The endpoint is marked before the attempt ends, so that a caller who waits for the end finds its finding, and the
    // other messages due.
    if (isOver) await this.#recovered(channel.endpoint)
    if (error !== null && isLasting(channel.health, job.attempt, nowMs)) await this.#lasts(channel.endpoint, error)
    const ms = Math.round(nowMs - beganMs)
    const note = noteOf(job.data, { at: begun.toISOString(), ms, status, error })
    const ended = end(error === null ? { end: 'done', note } : { end: 'failed', error, note, afterMs: retryAfterMs })
    this.#sendWaiting(channel)
    await ended
    if (status === GONE) await this.#gone(channel.endpoint)
  }

  async gaveUp(tx: Queryable, dead: readonly Ended<'webhook'>[]): Promise<void> {
    for (const [endpoint, { outcome }] of new Map(dead.map((ended) => [ended.job.group_id, ended])))
      await this.#find(tx, endpoint, 'error' in outcome ? outcome.error : '')
  }

  #find(tx: Queryable, endpoint: string, error: string): Promise<void> {
    const about = { sale: NO_SALE, product: '', subject: endpoint, detail: { endpoint, error } }
    return openFinding(tx, this.#deps.metrics, { ...about, kind: 'webhook_failed' })
  }

  async #recovered({ endpoint_id, url }: Endpoint): Promise<void> {
    const { sql, log } = this.#deps
    log.info({ url }, 'webhook endpoint answers again')
    await retryNow(sql, endpoint_id).catch(() => {})
    await closeAbout(sql, 'webhook_failed', [endpoint_id], 'it answers again').catch(() => {})
  }

  /** The messages remain due, but only a person can mend an endpoint that has moved or is closed. */
  async #lasts({ endpoint_id }: Endpoint, error: string): Promise<void> {
    const { sql, log } = this.#deps
    await this.#find(sql, endpoint_id, error).catch((failure) =>
      log.warn({ error: String(failure) }, 'finding of an endpoint not noted'),
    )
  }

  /** The endpoint refuses further messages, so a person must decide. */
  async #gone({ endpoint_id }: Endpoint): Promise<void> {
    const { sql, log } = this.#deps
    await sql
      .begin(async (tx) => {
        await pauseEndpoint(tx, endpoint_id)
        await this.#find(tx, endpoint_id, 'paused, since it answered 410 Gone')
      })
      .catch((error) => log.warn({ error: String(error) }, 'endpoint not paused'))
  }

  /** Measures the backlog, seals secrets with the first key, and gives up messages past their lifetime. */
  async watch(): Promise<void> {
    const { sql, sealer, metrics } = this.#deps
    const { pending, oldest_seconds } = await backlogOf(sql)
    metrics.webhookBacklog.set({}, pending)
    metrics.webhookAge.set({}, oldest_seconds)
    await sealSecrets(sql, sealer)
    if (performance.now() - this.#beganMs < GIVE_UP_AFTER_MS) return
    await sql.begin(async (tx) => {
      for (const endpoint of await giveUpOld(tx)) await this.#find(tx, endpoint, 'messages were not sent in time')
    })
  }

  /** Returns the messages that are not being sent yet. The others end normally. */
  stop(): void {
    this.#stopped = true
    for (const channel of this.#channels.values()) this.#sendWaiting(channel)
  }

  close(): void {
    this.#deps.sender.close()
  }
}

/** What a message keeps of an attempt. */
function noteOf({ tries = [], failsSince }: JobData['webhook'], tried: WebhookTry): Partial<JobData['webhook']> {
  const note = { status: tried.status, tries: [...tries, tried].slice(-KEPT_TRIES) }
  return tried.error === null ? note : { ...note, failsSince: failsSince ?? tried.at }
}
