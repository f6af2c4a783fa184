/** A mail server that accepts all mails and does nothing with them. */
import { createServer } from 'node:http'
import { SMTPServer } from 'smtp-server'

const { PORT, SMTP_PORT } = process.env
new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  onData(stream, _, done) {
    stream.resume().on('end', () => done())
  },
}).listen(Number(SMTP_PORT), '127.0.0.1')
createServer((_, response) => response.end()).listen(Number(PORT), '127.0.0.1')
