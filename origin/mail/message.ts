/**
 * Builds a mail as nodemailer sends it, in one piece. Nodemailer itself would write it through a stream for each of
 * its parts, which takes several times as long; its functions still make the headers and encode the texts.
 */
import { randomBytes } from 'node:crypto'
import MimeNode from 'nodemailer/lib/mime-node'
import { encode, wrap } from 'nodemailer/lib/qp'
import type { Written } from './template.ts'

/** Addresses of this form are written without encoding, in a header and to the server. */
const PLAIN_ADDRESS = /^[\w.+-]{1,64}@[\w-]+(\.[\w-]+)+$/
/**
 * At most this many senders and subjects are remembered. There is a subject for each sale, kind of mail and language.
 */
const MAX_HEADERS = 1_000

interface Headers {
  readonly from: string
  readonly to: string
  readonly messageId: string
}

/** The fields of nodemailer's `sendMail` that are used here. */
interface Message {
  readonly envelope: { readonly from: string; readonly to: string[] }
  readonly messageId: string
  readonly raw: Buffer
}

export function messageOf({ subject, text, html, stopUrl }: Written, { from, to, messageId }: Headers): Message {
  const [sender, about, recipient] = [headerOf('From', from), headerOf('Subject', subject), recipientOf(to)]
  const boundary = `--_${randomBytes(8).toString('hex')}`
  const part = (type: string, content: string) => [
    `--${boundary}`,
    `Content-Type: text/${type}; charset=utf-8`,
    'Content-Transfer-Encoding: quoted-printable',
    '',
    wrap(encode(content.replace(/\r?\n/g, '\r\n'))),
  ]
  const lines = [
    sender.line,
    recipient.line,
    about.line,
    `Message-ID: ${messageId}`,
    'Auto-Submitted: auto-generated',
    // The headers allow mail programs to end mails with one click, without a page (RFC 8058).
    ...(stopUrl === undefined
      ? []
      : [`List-Unsubscribe: <${stopUrl}>`, 'List-Unsubscribe-Post: List-Unsubscribe=One-Click']),
    `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/alternative; boundary="${boundary}"`,
    '',
    ...part('plain', text),
    ...part('html', html),
    `--${boundary}--`,
    '',
  ]
  const envelope = { from: sender.envelope.from || '', to: [...recipient.envelope.to] }
  return { envelope, messageId, raw: Buffer.from(lines.join('\r\n')) }
}

// -- Headers --------------------------------------------------------------------------------------------------------

interface Header {
  /** The line is encoded and folded. */
  readonly line: string
  readonly envelope: { readonly from: string | false; readonly to: readonly string[] }
}

const headers = new Map<string, Header>()

function headerOf(name: 'From' | 'Subject', value: string): Header {
  const key = `${name}: ${value}`
  const known = headers.get(key)
  if (known) return known
  const header = encodeHeader(name, value)
  if (headers.size >= MAX_HEADERS) headers.clear()
  headers.set(key, header)
  return header
}

function recipientOf(to: string): Header {
  if (PLAIN_ADDRESS.test(to)) return { line: `To: ${to}`, envelope: { from: false, to: [to] } }
  // An object always means one address, whatever it contains; a text would be parsed as a list.
  return encodeHeader('To', { name: '', address: to } as never)
}

function encodeHeader(name: string, value: string): Header {
  const node = new MimeNode('text/plain').setHeader(name, value)
  // The first header is taken; the others belong to a complete message.
  const [line = ''] = node.buildHeaders().split(/\r\n(?![ \t])/, 1)
  return { line, envelope: node.getEnvelope() }
}
