/**
 * Mails buyers about their orders. A reader of the events writes the mails, and the mailer sends
 * it, one attempt at a time. A mail that was sent, and whose worker died before noting it, is sent once more: with the same
 * Message-ID, by which mail programs recognise the duplicate.
 */
import { createTransport, type Transporter } from 'nodemailer'
import type { Config } from '../config.ts'
import { readEvents } from '../events/reader.ts'
import { note } from '../findings/finding-queries.ts'
import type { Sql } from '../ledger/connection.ts'
import { type Actor, type LoopDeps, loop } from '../lib/loop.ts'
import type { Metrics } from '../lib/metrics.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import { addMails, type DueMail, markMailFailed, markMailSent, takeDueMails } from './mail-queries.ts'
import { write } from './template.ts'

/** Taken and sent at once, over this many connections. */
const BATCH = 20
const CONNECTIONS = 5
const CONNECT_TIMEOUT_MS = 10_000
/** Without a byte from the server. */
const SILENCE_TIMEOUT_MS = 30_000
const SEND_TIMEOUT_MS = 300_000
/** Longer than any attempt. An attempt whose worker died is repeated after this time. */
const LEASE_SECONDS = 600
/** The pause after a failed attempt; doubles, jittered .. */
const FIRST_PAUSE_MS = 30_000
/** .. up to this .. */
const MAX_PAUSE_MS = 3_600_000
/** .. which makes a day of attempts. */
const MAX_ATTEMPTS = 30

interface MailDeps extends LoopDeps {
  readonly config: Pick<Config, 'SMTP_URL' | 'MAIL_FROM' | 'PUBLIC_URL' | 'EDGE_URL' | 'PORT'>
  readonly sql: Sql
  readonly metrics: LoopDeps['metrics'] & Pick<Metrics, 'mails' | 'findings'>
}

/** Undefined where no mail is sent. */
export function createMail(deps: MailDeps): Actor | undefined {
  const { SMTP_URL: url, MAIL_FROM: from } = deps.config
  if (url === undefined || from === undefined) return undefined
  const mailer = new Mailer(deps, url, from)
  const actors = [
    loop('mail reader', 1_000, deps, () => readEvents(deps.sql, 'mail', addMails)),
    loop('mailer', 1_000, deps, () => mailer.round()),
  ]
  return {
    start() {
      for (const actor of actors) actor.start()
    },
    async stop() {
      await Promise.all(actors.map((actor) => actor.stop()))
      mailer.close()
    },
  }
}

class Mailer {
  readonly #deps: MailDeps
  readonly #transport: Transporter
  readonly #publicUrl: string
  readonly #from: string

  constructor(deps: MailDeps, url: string, from: string) {
    const { PUBLIC_URL, EDGE_URL, PORT } = deps.config
    this.#deps = deps
    this.#from = from
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

  /** Makes an attempt at each mail that is due, up to a batch. True if there may be more. */
  async round(): Promise<boolean> {
    const due = await takeDueMails(this.#deps.sql, BATCH, LEASE_SECONDS)
    await Promise.all(due.map((mail) => this.#attempt(mail)))
    return due.length === BATCH
  }

  close(): void {
    this.#transport.close()
  }

  async #attempt(mail: DueMail): Promise<void> {
    const { sql, metrics } = this.#deps
    if (mail.email === null) return markMailFailed(sql, mail.mail_id, 'the address was deleted', null)
    try {
      await withTimeout(this.#send(mail, mail.email), SEND_TIMEOUT_MS)
    } catch (error) {
      return this.#failed(mail, error as SmtpError)
    }
    // If this process dies here, the mail is sent again.
    await markMailSent(sql, mail.mail_id)
    metrics.mails.inc({ outcome: 'sent' })
  }

  #send(mail: DueMail, email: string): Promise<unknown> {
    const domain = /@([^\s<>@]+)>?$/.exec(this.#from)?.[1] ?? 'localhost'
    return this.#transport.sendMail({
      ...write(mail, this.#publicUrl),
      from: this.#from,
      to: { name: '', address: email },
      messageId: `<${mail.event}.${mail.order_id}@${domain}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    })
  }

  async #failed({ mail_id, order_id, sale_id, email, attempts }: DueMail, error: SmtpError): Promise<void> {
    const { sql, metrics, log } = this.#deps
    const isDead = attempts >= MAX_ATTEMPTS || isRefusedForGood(error)
    const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1)) * (0.75 + Math.random() / 2)
    // Servers like to repeat the address, which is in no log.
    const said = error.message.replaceAll(email ?? '', '(the address)').slice(0, 300)
    await markMailFailed(sql, mail_id, said, isDead ? null : pauseMs)
    metrics.mails.inc({ outcome: isDead ? 'dead' : 'failed' })
    log.warn({ order: order_id, attempts, isDead, code: error.code, reply: error.responseCode }, 'mail not sent')
    if (!isDead) return
    // One finding per sale: many buyers mistype their address.
    await note(sql, { sale: sale_id, product: '', kind: 'mail_failed', units: 0, detail: { latest_order: order_id } })
    metrics.findings.inc({ sale: sale_id, kind: 'mail_failed' })
  }
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
