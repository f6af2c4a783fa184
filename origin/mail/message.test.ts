import { expect, test } from 'vitest'
import { messageOf } from './message.ts'

const WRITTEN = { subject: 'Confirmed', text: 'Thank you.\n\n€10', html: '<p>€10</p>\n' }
const HEADERS = { from: 'The shop <shop@example.com>', to: 'ann@example.com', messageId: '<1@example.com>' }
const rawOf = (written = {}, headers = {}) =>
  String(messageOf({ ...WRITTEN, ...written }, { ...HEADERS, ...headers }).raw)

test('has a text and a page, each line of which ends as mail servers require', () => {
  const raw = rawOf()
  expect(raw).not.toMatch(/[^\r]\n/)
  const [, boundary = ''] = /boundary="(.+)"\r\n\r\n/.exec(raw) ?? []
  const [, plain, html, end] = raw.split(`--${boundary}`)
  expect(plain).toContain('text/plain; charset=utf-8')
  expect(plain).toContain('Thank you.\r\n\r\n=E2=82=AC10')
  expect(html).toContain('<p>=E2=82=AC10</p>')
  expect(end).toBe('--\r\n')
})

test('encodes what a header cannot hold, the same each time', () => {
  const [once, again] = [rawOf({ subject: 'Für Ä' }), rawOf({ subject: 'Für Ä' })]
  for (const raw of [once, again])
    expect(raw).toContain(`Subject: =?UTF-8?B?${Buffer.from('Für Ä').toString('base64')}?=\r\n`)
  const long = rawOf({ subject: `Ä${' word'.repeat(40)}` })
  const [, subject = ''] = /^(Subject: [\s\S]+?)\r\n(?! )/m.exec(long) ?? []
  expect(subject.split('\r\n').length).toBeGreaterThan(2)
  expect(rawOf({ subject: 'One\r\nBcc: bob@example.com' })).not.toMatch(/^Bcc:/m)
})

test('can be ended with one click, where it is no answer to an order (RFC 8058)', () => {
  expect(rawOf()).not.toContain('List-Unsubscribe')
  expect(rawOf({ stopUrl: 'https://drop.example/mail/stop/1' })).toContain(
    'List-Unsubscribe: <https://drop.example/mail/stop/1>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n',
  )
})

test('takes an address as one, whatever it holds', () => {
  const of = (to: string) => messageOf(WRITTEN, { ...HEADERS, to }).envelope
  expect(of('ann@example.com')).toEqual({ from: 'shop@example.com', to: ['ann@example.com'] })
  expect(of('ann@exämple.com').to).toEqual(['ann@xn--exmple-cua.com'])
  expect(of('ann@example.com, bob@example.com').to).toHaveLength(1)
  expect(rawOf({}, { to: 'ann@example.com\r\nBcc: bob@example.com' })).not.toMatch(/^Bcc:/m)
})
