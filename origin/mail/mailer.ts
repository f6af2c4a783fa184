/**
 * Sends buyers messages about their turns and orders, by mail and by push. A reader of the events queues them, and
 * the mailer sends them. If a worker dies after sending a message and before recording that, the message is sent
 * again under the same id, by which mail programs and browsers recognise the duplicate.
 */
import type { SyncKey, TokenKeys } from '../../shared/keys.ts'
import type { Config } from '../base/config.ts'
import type { Metrics } from '../base/metrics.ts'
import { openFinding } from '../findings/finding-queries.ts'
import type { Consumer, End } from '../jobs/job-runner.ts'
import { attemptOf, type Ended, type Job, type Outcome } from '../jobs/queues.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { LoopDeps } from '../lib/loop.ts'
import type { Tracer } from '../lib/tracing.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Sender } from '../webhooks/sender.ts'
import { Push, usefulMs } from './channels/push.ts'
import { CONNECTIONS, Smtp } from './channels/smtp.ts'
import { Undelivered } from './channels/undelivered.ts'
import {
  type Channels,
  findMailOrders,
  findRequests,
  type Mail,
  type MailOrder,
  type MailRequestRow,
  type Notice,
} from './mail-queries.ts'
import { deleteRequests } from './mail-requests.ts'
import { headlineOf, stopMac, write } from './template.ts'

/** Each connection has a second message ready while it sends the first. */
const IN_PROGRESS = 2 * CONNECTIONS
/**
 * The number of messages that a worker has taken and not ended. New ones are taken when fewer than half remain, and
 * at a stop the unsent ones are returned.
 */
const TAKEN = 100
/** One attempt may take this long. */
const SEND_TIMEOUT_MS = 300_000

interface MailDeps {
  readonly config: Pick<
    Config,
    'SMTP_URL' | 'MAIL_FROM' | 'MAILS_PER_ADDRESS' | 'PUBLIC_URL' | 'EDGE_URL' | 'PORT' | 'vapid'
  >
  /** The keys sign the links that end mails. */
  readonly keys: TokenKeys<SyncKey>
  readonly sql: Sql
  /** The sender connects to push services. */
  readonly sender: Pick<Sender, 'send'>
  readonly trace: Tracer['draw']
  readonly metrics: Pick<Metrics, 'mails' | 'findings'>
  readonly log: LoopDeps['log']
}

/** Returns undefined if neither mails nor push messages are sent. */
export function createMailer(deps: MailDeps): Mailer | undefined {
  const { SMTP_URL: url, MAIL_FROM: from, vapid } = deps.config
  const smtp = url === undefined || from === undefined ? undefined : new Smtp(url, from)
  const push = vapid && new Push(vapid, deps.sender)
  return smtp || push ? new Mailer(deps, smtp, push) : undefined
}

type About = MailOrder | MailRequestRow

export class Mailer implements Consumer<'mail'> {
  readonly queue = 'mail'
  readonly channels: Channels
  readonly perAddress: number
  readonly #deps: MailDeps
  readonly #smtp: Smtp | undefined
  readonly #push: Push | undefined
  readonly #publicUrl: string
  #stopped = false

  constructor(deps: MailDeps, smtp: Smtp | undefined, push: Push | undefined) {
    const { PUBLIC_URL, EDGE_URL, PORT, MAILS_PER_ADDRESS } = deps.config
    this.#deps = deps
    this.#smtp = smtp
    this.#push = push
    this.perAddress = MAILS_PER_ADDRESS
    this.channels = { mail: smtp !== undefined, push: push !== undefined }
    this.#publicUrl = PUBLIC_URL ?? EDGE_URL ?? `http://127.0.0.1:${PORT}`
  }

  room(busy: number): number {
    const room = TAKEN - busy
    return this.#stopped || room < TAKEN / 2 ? 0 : room
  }

  async run(jobs: readonly Job<'mail'>[], end: End<'mail'>): Promise<void> {
    const about = await this.#find(this.#deps.sql, jobs)
    const waiting = jobs.values()
    const ended: Promise<void>[] = []
    const sendNext = async () => {
      for (const job of waiting)
        ended.push(end(job, this.#stopped ? { end: 'returned' } : await this.#attempt(job, about(job))))
    }
    await Promise.all(Array.from({ length: IN_PROGRESS }, sendNext))
    await Promise.all(ended)
  }

  /** A sale gets one finding, because many buyers mistype their address. */
  async gaveUp(tx: Queryable, dead: readonly Ended<'mail'>[]): Promise<void> {
    const { metrics } = this.#deps
    const jobs = dead.map(({ job }) => job)
    const about = await this.#find(tx, jobs)
    const failed = jobs.flatMap((job) => about(job) ?? []).filter(({ email, push }) => email !== null || push !== null)
    metrics.mails.inc({ outcome: 'dead' }, failed.length)
    const latest = new Map(failed.map((one) => [one.sale_id, 'order_id' in one ? { latest_order: one.order_id } : {}]))
    for (const [sale, detail] of latest)
      await openFinding(tx, metrics, { sale, product: '', kind: 'mail_failed', detail })
  }

  /** Returns the messages that are not being sent yet. */
  stop(): void {
    this.#stopped = true
  }

  close(): void {
    this.#smtp?.close()
  }

  /** Reads the order or notice that each message is about, and its recipient. */
  async #find(sql: Queryable, jobs: readonly Job<'mail'>[]) {
    const [orders, asks] = [await findMailOrders(sql, jobs), await findRequests(sql, jobs)]
    return ({ data }: Job<'mail'>): About | undefined => {
      if (!('order' in data)) return asks.get(data.ask)
      const order = orders.get(data.order)
      if (data.push === undefined) return order
      const { push = null, language, sale } = asks.get(data.push) ?? {}
      return order && language && sale ? { ...order, email: null, push, language, sale } : undefined
    }
  }

  async #attempt(job: Job<'mail'>, about: About | undefined): Promise<Outcome> {
    const { sql, metrics, log, trace } = this.#deps
    if (!about || (about.email === null && about.push === null))
      return { end: 'dead', error: 'the address was deleted' }
    if (!isCurrent(job.data, about)) return { end: 'done' }
    const withinMs = about.push === null ? Number.POSITIVE_INFINITY : pushedWithinMs(job)
    if (withinMs <= 0) return { end: 'dead', error: 'it would come too late' }
    try {
      const sending = () => withTimeout(this.#send(job.data, about, withinMs), SEND_TIMEOUT_MS)
      await trace(about.push === null ? 'send mail' : 'send push', attemptOf(job), sending)
      metrics.mails.inc({ outcome: 'sent' })
      return { end: 'done' }
    } catch (thrown) {
      const { why, shown, message, retryAfterMs } =
        thrown instanceof Undelivered ? thrown : new Undelivered((thrown as Error).message, 'failed')
      log.warn({ about: subjectOf(job.data), attempt: job.attempt, ...shown }, 'message not sent')
      // The browser gets no further messages, and deleting its request deletes this job too.
      const ask_id = requestOf(job.data)
      if (why === 'gone' && ask_id !== undefined) {
        await deleteRequests(sql, [{ ask_id }])
        return { end: 'done' }
      }
      const error = message.slice(0, 300)
      if (why === 'refused') return { end: 'dead', error }
      metrics.mails.inc({ outcome: 'failed' })
      return { end: 'failed', error, afterMs: retryAfterMs, withinMs }
    }
  }

  /** Sends by push if the message is for a browser, otherwise by mail. */
  async #send(data: Job<'mail'>['data'], about: About, withinMs: number): Promise<void> {
    const id = `${'order' in data ? data.event : data.kind}.${subjectOf(data)}`
    const message = messageIn(data, about)
    const sent = about.push
      ? this.#push?.send(headlineOf(message, this.#publicUrl), about.push, id, withinMs)
      : this.#smtp?.send(
          write(message, this.#publicUrl, (id) => stopMac(this.#deps.keys, id)),
          about.email ?? '',
          id,
        )
    await (sent ?? Promise.reject(new Undelivered('it is not set up any more', 'failed')))
  }
}

const requestOf = (data: Job<'mail'>['data']) => ('order' in data ? data.push : data.ask)
const subjectOf = (data: Job<'mail'>['data']) => ('order' in data ? data.order : data.ask)

/** A hold that was paid or given back meanwhile is not about to end. */
const isCurrent = (data: Job<'mail'>['data'], about: About) =>
  !('order' in data) || data.type !== 'order.reserved' || ('status' in about && about.status === 'reserved')

/**
 * The time for which a push message remains useful. A message about an order is useful while `isCurrent`, because its
 * job may have waited for its time.
 */
const pushedWithinMs = ({ data, ageMs }: Job<'mail'>) =>
  'order' in data ? Number.POSITIVE_INFINITY : usefulMs(data.kind, ageMs)

function messageIn(data: Job<'mail'>['data'], about: About): Mail | Notice {
  if ('order' in data && 'order_id' in about) return { ...data, ...about }
  if ('ask' in data && 'ask_id' in about) return { ...data, ...about }
  throw new Error('a message about something else')
}
