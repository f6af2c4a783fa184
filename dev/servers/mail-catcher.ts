/**
 * A mail server, only for this machine, that delivers nothing: it keeps the latest mails of `npm start`, and shows them
 * on a page. It reads the form in which the origin writes its mails.
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { getRequestListener } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { SMTPServer } from 'smtp-server'
import { heading, html } from '../../edge/pages/html.ts'
import { styleSheet } from '../lib/build.ts'
import { serveOnLoopback } from '../lib/loopback.ts'
import { LOOPBACK } from '../lib/processes.ts'

/** The page shows this many mails; older ones are forgotten. */
const MAX_MAILS = 200
const STYLE = '/style.css'

interface Mail {
  readonly to: string
  readonly at: Date
  readonly subject: string
  readonly text: string
  readonly html: string
}

export interface MailCatcher {
  /** The page with the mails. */
  readonly url: string
  readonly smtpUrl: string
  stop(): void
}

export async function startMailCatcher(): Promise<MailCatcher> {
  const mails: Mail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData(stream, { envelope }, done) {
      text(stream)
        .then((raw) => {
          mails.push(mailIn(raw, envelope.rcptTo.map(({ address }) => address).join()))
          if (mails.length > MAX_MAILS) mails.shift()
          done()
        })
        .catch(done)
    },
  })
  // A client that goes away is no fault of this server.
  server.on('error', () => {})
  server.listen(0, LOOPBACK)
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  const { body } = await styleSheet()
  const { fetch } = pagesOf(mails, body)
  const pages = await serveOnLoopback(getRequestListener(fetch, { hostname: LOOPBACK, overrideGlobalObjects: false }))
  return {
    url: pages.url,
    smtpUrl: `smtp://${LOOPBACK}:${port}`,
    stop() {
      server.close(() => {})
      pages.stop()
    },
  }
}

// -- What a mail says -----------------------------------------------------------------------------------------------

function mailIn(raw: string, to: string): Mail {
  const [head = ''] = raw.split('\r\n\r\n', 1)
  const [, subject = ''] = /^Subject: (.*(?:\r\n[ \t].*)*)/m.exec(head) ?? []
  const [, boundary = ''] = /boundary="(.+)"/.exec(head) ?? []
  const partOf = (type: string) => {
    const part = raw.split(`\r\n--${boundary}`).find((one) => one.startsWith(`\r\nContent-Type: text/${type}`)) ?? ''
    const content = part.slice(part.indexOf('\r\n\r\n') + 4)
    return printable(content.replaceAll('=\r\n', ''))
  }
  return { to, at: new Date(), subject: subjectIn(subject), text: partOf('plain'), html: partOf('html') }
}

/** Decodes the bytes that quoted-printable writes as `=C3=A4` (RFC 2045). */
const printable = (content: string) =>
  content.replace(/(?:=[0-9A-F]{2})+/g, (bytes) => Buffer.from(bytes.replaceAll('=', ''), 'hex').toString())

/** Decodes the words of a header (RFC 2047). A line break between two words is none of the text. */
const subjectIn = (header: string) =>
  header
    .replace(/\?=\r\n[ \t]=\?/g, '?==?')
    .replaceAll('\r\n', '')
    .replace(/=\?UTF-8\?([BQ])\?([^?]*)\?=/gi, (_, how: string, word: string) =>
      how.toUpperCase() === 'B' ? Buffer.from(word, 'base64').toString() : printable(word.replaceAll('_', ' ')),
    )

// -- The pages ------------------------------------------------------------------------------------------------------

/** A mail is shown as mail programs do: without scripts, and with links that leave it. */
const MAIL_POLICY =
  "sandbox allow-popups allow-top-navigation-by-user-activation; default-src 'none'; style-src 'unsafe-inline'; " +
  'img-src http: data:'

function pagesOf(mails: readonly Mail[], style: string) {
  const app = new Hono()
  app.get(STYLE, (c) => c.body(style, 200, { 'content-type': 'text/css' }))
  app.get('/', (c) => c.html(listOf(mails)))
  const mailOf = (c: Context) => mails[Number(c.req.param('n'))]
  app.get('/mails/:n/html', (c) => c.html(mailOf(c)?.html ?? '', 200, { 'content-security-policy': MAIL_POLICY }))
  app.get('/mails/:n/text', (c) => c.text(mailOf(c)?.text ?? ''))
  return app
}

const NOTE = 'Nothing is delivered: each mail that is sent is kept here until the end of npm start.'

const listOf = (mails: readonly Mail[]) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Mails</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${STYLE}">
</head>
<body>
<header class="page row top"><p class="brand">Mails of this machine</p></header>
<main class="page"><section class="stack says">
  ${heading(mails.length === 0 ? 'No mail yet' : 'Mails', NOTE)}
  <ol class="orders" reversed>${mails
    .map(
      ({ to, at, subject }, n) => html`<li><p><a href="/mails/${n}/html">${subject}</a> <small>${to}</small>
      <small>${at.toISOString().slice(11, 19)} UTC</small></p><a href="/mails/${n}/text">as text</a></li>`,
    )
    .toReversed()}</ol>
</section></main>
</body>
</html>
`
