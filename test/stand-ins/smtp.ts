/** A real SMTP server for tests, which stores the mails that it receives. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import { LOOPBACK } from '../../dev/lib/processes.ts'

export interface Received {
  readonly to: readonly string[]
  /** The mail as it was sent, with its headers. */
  readonly raw: string
  readonly messageId: string
}

export async function startSmtp(port = 0) {
  const mails: Received[] = []
  /** The server awaits this function after a mail has arrived, before it acknowledges the mail. */
  let beforeAck: (mail: Received) => Promise<void> = async () => {}
  let isSenderRefused = false
  const server = new SMTPServer({
    authOptional: true,
    closeTimeout: 100,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onMailFrom({ address }, _, done) {
      const refusal = Object.assign(new Error(`${address} may not send`), { responseCode: 550 })
      done(isSenderRefused ? refusal : undefined)
    },
    onRcptTo({ address }, _, done) {
      const refusal = Object.assign(new Error(`no mailbox ${address}`), { responseCode: 550 })
      done(address.startsWith('nobody@') ? refusal : undefined)
    },
    onData(stream, { envelope }, done) {
      text(stream)
        .then(async (raw) => {
          const to = envelope.rcptTo.map(({ address }) => address)
          const mail = { to, raw, messageId: /^Message-ID: (.+)\r$/m.exec(raw)?.[1] ?? '' }
          mails.push(mail)
          await beforeAck(mail)
          done()
        })
        .catch(done)
    },
  })
  server.on('error', () => {})
  server.listen(port, LOOPBACK)
  await once(server.server, 'listening')
  const { port: own } = server.server.address() as AddressInfo
  return {
    mails,
    port: own,
    url: `smtp://${LOOPBACK}:${own}`,
    beforeAck: (then: typeof beforeAck) => {
      beforeAck = then
    },
    refuseSender: (isRefused: boolean) => {
      isSenderRefused = isRefused
    },
    stop: () => new Promise<void>((done) => server.close(() => done())),
  }
}
