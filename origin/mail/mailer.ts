/**
 * Mails buyers about their orders. A reader of the events queues the mails, and the mailer sends them. A mail that was sent, and
 * whose worker died before noting it, is sent once more: with the same Message-ID, by which mail programs recognise the duplicate.
 */
import { createTransport, type Transporter } from 'nodemailer'
import type { Config } from '../config.ts'
import { openFinding } from '../findings/finding-queries.ts'
import type { Consumer, End } from '../jobs/job-runner.ts'
import { type Ended, type Job, type Outcome, QUEUES } from '../jobs/queues.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { LoopDeps } from '../lib/loop.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Metrics } from '../metrics.ts'
import { findAsks, findMailOrders, type MailAsk, type MailOrder } from './mail-queries.ts'
import { messageOf } from './message.ts'
import { type Written, write, writeNotice } from './template.ts'

const CONNECTIONS = 5
/** Mails handed to the connections at a time: one leaves while the next is ready. */
const IN_PROGRESS = 2 * CONNECTIONS
/** Mails taken and not ended yet; fewer than half are taken together with the next ones. At a stop those not begun are returned. */
const TAKEN = 100
const CONNECT_TIMEOUT_MS = 10_000
/** Without a byte from the server. */
const SILENCE_TIMEOUT_MS = 30_000
/** Shorter than the lease of a job .. */
const SEND_TIMEOUT_MS = 300_000
/** .. by so much that what a slow server has kept waiting for so long can be returned instead of sent twice. */
const BEGUN_WITHIN_MS = QUEUES.mail.leaseMs - SEND_TIMEOUT_MS - CONNECT_TIMEOUT_MS

interface MailDeps {
  readonly config: Pick<Config, 'SMTP_URL' | 'MAIL_FROM' | 'PUBLIC_URL' | 'EDGE_URL' | 'PORT'>
  readonly sql: Sql
  readonly metrics: Pick<Metrics, 'mails' | 'findings'>
  readonly log: LoopDeps['log']
}

/** Undefined where no mail is sent. */
export function createMailer(deps: MailDeps): Mailer | undefined {
  const { SMTP_URL: url, MAIL_FROM: from } = deps.config
  return url === undefined || from === undefined ? undefined : new Mailer(deps, url, from)
}

export class Mailer implements Consumer<'mail'> {
  readonly queue = 'mail'
  readonly #deps: MailDeps
  readonly #transport: Transporter
  readonly #publicUrl: string
  readonly #from: string
  readonly #domain: string
  #stopped = false

  constructor(deps: MailDeps, url: string, from: string) {
    const { PUBLIC_URL, EDGE_URL, PORT } = deps.config
    this.#deps = deps
    this.#from = from
    this.#domain = /@([^\s<>@]+)>?$/.exec(from)?.[1] ?? 'localhost'
    this.#publicUrl = PUBLIC_URL ?? EDGE_URL ?? `http://127.0.0.1:${PORT}`
    this.#transport = createTransport({
      ...serverOf(new URL(url)),
      pool: true,
      maxConnections: CONNECTIONS,
      disableFileAccess: true,
      disableUrlAccess: true,
      dnsTimeout: CONNECT_TIMEOUT_MS,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      greetingTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SILENCE_TIMEOUT_MS,
    })
  }

  room(busy: number): number {
    const room = TAKEN - busy
    return this.#stopped || room < TAKEN / 2 ? 0 : room
  }

  async run(jobs: readonly Job<'mail'>[], end: End<'mail'>): Promise<void> {
    const about = await this.#find(this.#deps.sql, jobs)
    const untilMs = performance.now() + BEGUN_WITHIN_MS
    const waiting = jobs.values()
    const ended: Promise<void>[] = []
    const sendNext = async () => {
      for (const job of waiting) {
        const isLeft = this.#stopped || performance.now() > untilMs
        ended.push(end(job, isLeft ? { end: 'returned' } : await this.#attempt(job, about(job))))
      }
    }
    await Promise.all(Array.from({ length: IN_PROGRESS }, sendNext))
    await Promise.all(ended)
  }

  /** One finding for each sale: many buyers mistype their address. */
  async gaveUp(tx: Queryable, dead: readonly Ended<'mail'>[]): Promise<void> {
    const { metrics } = this.#deps
    const jobs = dead.map(({ job }) => job)
    const about = await this.#find(tx, jobs)
    const failed = jobs.flatMap((job) => about(job) ?? []).filter(({ email }) => email !== null)
    metrics.mails.inc({ outcome: 'dead' }, failed.length)
    const latest = new Map(failed.map((one) => [one.sale_id, 'order_id' in one ? { latest_order: one.order_id } : {}]))
    for (const [sale, detail] of latest)
      await openFinding(tx, metrics, { sale, product: '', kind: 'mail_failed', detail })
  }

  /** Returns what is not being sent yet. */
  stop(): void {
    this.#stopped = true
  }

  close(): void {
    this.#transport.close()
  }

  /** What each mail is about. */
  async #find(sql: Queryable, jobs: readonly Job<'mail'>[]) {
    const [orders, asks] = [await findMailOrders(sql, jobs), await findAsks(sql, jobs)]
    return ({ data }: Job<'mail'>): MailOrder | MailAsk | undefined =>
      'order' in data ? orders.get(data.order) : asks.get(data.ask)
  }

  async #attempt(job: Job<'mail'>, about: MailOrder | MailAsk | undefined): Promise<Outcome> {
    const { metrics, log } = this.#deps
    if (!about?.email) return { end: 'dead', error: 'the address was deleted' }
    if (!isCurrent(job.data, about)) return { end: 'done' }
    const { email } = about
    try {
      await withTimeout(this.#send(job, about, email), SEND_TIMEOUT_MS)
      metrics.mails.inc({ outcome: 'sent' })
      return { end: 'done' }
    } catch (thrown) {
      const error = thrown as SmtpError
      const { attempt } = job
      log.warn({ about: laneOf(job.data), attempt, code: error.code, reply: error.responseCode }, 'mail not sent')
      // Servers like to repeat the address, which is in no log.
      const said = error.message.replaceAll(email, '(the address)').slice(0, 300)
      if (isRefusedForGood(error)) return { end: 'dead', error: said }
      metrics.mails.inc({ outcome: 'failed' })
      return { end: 'failed', error: said }
    }
  }

  #send({ data }: Job<'mail'>, about: MailOrder | MailAsk, email: string): Promise<unknown> {
    const messageId = `<${'order' in data ? data.event : data.kind}.${laneOf(data)}@${this.#domain}>`
    const written = writtenOf(data, about, this.#publicUrl)
    return this.#transport.sendMail(messageOf(written, { from: this.#from, to: email, messageId }))
  }
}

const laneOf = (data: Job<'mail'>['data']) => ('order' in data ? data.order : data.ask)

/** A hold that was paid or given back meanwhile is not about to end. */
const isCurrent = (data: Job<'mail'>['data'], about: MailOrder | MailAsk) =>
  !('order' in data) || data.type !== 'order.reserved' || ('status' in about && about.status === 'reserved')

function writtenOf(data: Job<'mail'>['data'], about: MailOrder | MailAsk, publicUrl: string): Written {
  if ('order' in data && 'order_id' in about) return write({ ...data, ...about }, publicUrl)
  if ('ask' in data && 'ask_id' in about) return writeNotice({ ...data, ...about }, publicUrl)
  throw new Error('a mail about something else')
}

interface SmtpError extends Error {
  readonly code?: string
  readonly command?: string
  readonly responseCode?: number
}

/** The recipient is refused, not the sender: a refused sender is a wrong setting, which can be corrected. */
const isRefusedForGood = ({ command, responseCode = 0 }: SmtpError) => command === 'RCPT TO' && responseCode >= 500

/** Passwords and addresses travel encrypted, except on one machine or where the URL allows it. */
function serverOf(url: URL) {
  const { hostname: host, port, protocol, username: user, password } = url
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host)
  return {
    host: host.replace(/^\[|\]$/g, ''),
    ...(port !== '' && { port: Number(port) }),
    secure: protocol === 'smtps:',
    requireTLS: protocol === 'smtp:' && !isLocal && url.searchParams.get('requireTLS') !== 'false',
    ignoreTLS: protocol === 'smtp:' && isLocal,
    ...(user !== '' && { auth: { user: decodeURIComponent(user), pass: decodeURIComponent(password) } }),
  }
}
