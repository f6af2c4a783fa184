/**
 * Sends alerts by the channels that are configured: mail, Slack, PagerDuty. A failure of one says nothing about the
 * others.
 */
import type { Alert, AlertChannel } from '../../shared/api/operators/alerts.ts'
import type { Config } from '../base/config.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import { Smtp } from '../mail/channels/smtp.ts'
import { Sender } from '../webhooks/sender.ts'
import { mailOf, pagerDutyOf, slackOf } from './format.ts'

/** A mail server may need this long. */
const MAIL_TIMEOUT_MS = 30_000

export type AlertSettings = Pick<
  Config,
  'SMTP_URL' | 'MAIL_FROM' | 'ALERT_MAIL_TO' | 'ALERT_SLACK_URL' | 'ALERT_PAGERDUTY_KEY' | 'ALERT_PAGERDUTY_URL'
> & { readonly oidc?: Config['oidc']; readonly isDevelopment: boolean }

/** Says why an alert did not arrive, and after what pause another attempt makes sense. */
export class Unsent extends Error {
  override readonly name = 'Unsent'
  readonly retryAfterMs: number
  constructor(message: string, retryAfterMs = 0) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

export class AlertChannels {
  readonly #settings: AlertSettings
  readonly #smtp: Smtp | undefined
  readonly #sender: Sender

  constructor(settings: AlertSettings) {
    const { SMTP_URL: url, MAIL_FROM: from, isDevelopment } = settings
    this.#settings = settings
    this.#smtp = url === undefined || from === undefined ? undefined : new Smtp(url, from)
    // The addresses are the operators' own settings, which may name a relay in their network.
    this.#sender = new Sender({ allowPrivate: true, allowHttp: isDevelopment })
  }

  /** True if anything can be sent. */
  get isAny(): boolean {
    return this.sendsMail || Object.values(this.targets()).some((target) => target !== null)
  }

  get sendsMail(): boolean {
    return this.#smtp !== undefined
  }

  /** The console's address for links; null if it is not known. */
  get consoleUrl(): string | null {
    return this.#settings.oidc?.CONSOLE_URL ?? null
  }

  /** Where each channel leads, without secrets; null for one that is not configured. */
  targets(): Readonly<Record<AlertChannel, string | null>> {
    const { ALERT_MAIL_TO: to, ALERT_SLACK_URL: slack, ALERT_PAGERDUTY_KEY: key } = this.#settings
    return {
      mail: this.#smtp && to ? to.join(', ') : null,
      slack: slack === undefined ? null : new URL(slack).host,
      pagerduty: key === undefined ? null : `key …${key.slice(-4)}`,
    }
  }

  /** Throws Unsent. `to` is for a mail to others than those who hear of findings. */
  async send(channel: AlertChannel, alert: Alert, id: string, to?: readonly string[]): Promise<void> {
    const { ALERT_MAIL_TO = [], ALERT_SLACK_URL, ALERT_PAGERDUTY_KEY, ALERT_PAGERDUTY_URL } = this.#settings
    if (channel === 'mail') return this.#mail(alert, to ?? ALERT_MAIL_TO, id)
    if (channel === 'slack' && ALERT_SLACK_URL) return this.#post(ALERT_SLACK_URL, slackOf(alert))
    if (channel === 'pagerduty' && ALERT_PAGERDUTY_KEY)
      return this.#post(ALERT_PAGERDUTY_URL, pagerDutyOf(alert, ALERT_PAGERDUTY_KEY))
    throw new Unsent('it is not configured')
  }

  async #mail(alert: Alert, to: readonly string[], id: string): Promise<void> {
    if (!this.#smtp || to.length === 0) throw new Unsent('it is not configured')
    const smtp = this.#smtp
    const mail = mailOf(alert)
    const sent = await Promise.allSettled(
      to.map((one, i) => withTimeout(smtp.send(mail, one, `alert.${id}.${i}`), MAIL_TIMEOUT_MS)),
    )
    const failed = sent.find((one) => one.status === 'rejected')
    if (failed) throw new Unsent((failed.reason as Error).message)
  }

  async #post(url: string, body: object): Promise<void> {
    const { error, retryAfterMs } = await this.#sender.send(url, {}, JSON.stringify(body))
    if (error !== null) throw new Unsent(error, retryAfterMs)
  }

  close(): void {
    this.#smtp?.close()
    this.#sender.close()
  }
}
