/** The channel of mails: a mail server. */
import { createTransport, type Transporter } from 'nodemailer'
import { messageOf } from '../message.ts'
import type { Written } from '../template.ts'
import { Undelivered } from './undelivered.ts'

export const CONNECTIONS = 5
const CONNECT_TIMEOUT_MS = 10_000
/** The connection ends after this long without a byte from the server. */
const SILENCE_TIMEOUT_MS = 30_000

export class Smtp {
  readonly #transport: Transporter
  readonly #from: string
  readonly #domain: string

  constructor(url: string, from: string) {
    this.#from = from
    this.#domain = from.slice(from.lastIndexOf('@') + 1).replace('>', '')
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

  /** `id` is the same for every attempt. Throws Undelivered. */
  async send(written: Written, to: string, id: string): Promise<void> {
    try {
      await this.#transport.sendMail(messageOf(written, { from: this.#from, to, messageId: `<${id}@${this.#domain}>` }))
    } catch (thrown) {
      const error = thrown as SmtpError
      // Servers often repeat the recipient's address, which must not appear in a log.
      const said = error.message.replaceAll(to, '(the address)')
      const shown = { code: error.code, reply: error.responseCode }
      throw new Undelivered(said, isRefusedForGood(error) ? 'refused' : 'failed', shown)
    }
  }

  close(): void {
    this.#transport.close()
  }
}

interface SmtpError extends Error {
  readonly code?: string
  readonly command?: string
  readonly responseCode?: number
}

/** True if the recipient is refused. A refused sender is a wrong setting, which can be corrected. */
const isRefusedForGood = ({ command, responseCode = 0 }: SmtpError) => command === 'RCPT TO' && responseCode >= 500

/** Passwords and addresses are sent encrypted, except on one machine or if the URL allows plain text. */
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
