/** Buyers read their messages in their language, and every value is escaped as text. */
import { expect, test } from 'vitest'
import { LANGUAGES } from '../../shared/api/fields.ts'
import { NO_DELIVERY } from '../../shared/api/goods.ts'
import { MAILED_REASONS } from '../../shared/api/order-status.ts'
import { shortNumber } from '../../shared/format.ts'
import { write as writeMail } from './template.ts'

const SHOP = 'https://drop.example'
const write = (message: Parameters<typeof writeMail>[0], shop: string) =>
  writeMail(message, shop, (id) => `mac-of-${id}`)
const mail = {
  ...{ order: 'the-order', event: '7-8', type: 'order.refunded', snapshot: { refunded_minor: 250 } },
  ...{ order_id: 'the-order', number: 1, sale_id: 'drop', language: 'en' },
  ...{ quantity: 2, unit_price_minor: 500, currency: 'EUR', cart: null, bill: null, receipt: null, tax: null },
  ...{ delivery: NO_DELIVERY, recipient: null, sale: 'Tom & <b>Jerry</b>', product: 'A "mouse"' },
  ...{ own_names: null, date: null, venue: null },
}

test('escapes what operators write', () => {
  const { html, text, subject } = write(mail, SHOP)
  expect(html).toContain('Tom &amp; &lt;b&gt;Jerry&lt;/b&gt;')
  expect(html).toContain('2 × A &quot;mouse&quot;')
  expect(html).not.toContain('<b>')
  expect(text).toContain('A "mouse"')
  expect(subject).toBe('A part of your order was refunded: Tom & <b>Jerry</b>')
})

test.each(LANGUAGES)('shows the amounts, the order and the link to it in %s', (language) => {
  for (const type of ['order.confirmed', 'order.cancelled', 'order.refunded', 'order.fulfilled', 'order.reserved']) {
    const { html, text, subject } = write({ ...mail, type, language }, SHOP)
    expect(html).toContain(`lang="${language}"`)
    for (const body of [html, text]) {
      expect(body).toContain(shortNumber(1))
      expect(body).toContain('https://drop.example/sales/drop/order/the-order')
      expect(body).not.toMatch(/undefined|\{\w+\}/)
    }
    expect(subject).toContain('Tom')
  }
})

test.each(LANGUAGES)('says in %s why an order ended that nobody gave back, and leads to it', (language) => {
  const written = MAILED_REASONS.map((reason) =>
    write({ ...mail, type: 'order.cancelled', snapshot: { reason }, language }, SHOP),
  )
  for (const { html, text, subject } of written) {
    expect(subject).toContain('Tom')
    for (const body of [html, text]) {
      expect(body).toContain('https://drop.example/sales/drop/order/the-order')
      expect(body).not.toMatch(/undefined|\{\w+\}/)
    }
  }
  const declined = write({ ...mail, type: 'order.cancelled', snapshot: { reason: 'declined: x' }, language }, SHOP)
  expect(new Set([declined, ...written].map(({ text }) => text)).size).toBe(MAILED_REASONS.length + 1)
})

test.each(LANGUAGES)('says in %s what was asked for, and how it ends', (language) => {
  const ask = { ask: 'the-ask', ask_id: 'the-ask', sale_id: 'drop', sale: 'Tom & <b>Jerry</b>', language, seconds: 300 }
  const subjects = (['turn_near', 'turn', 'sold_out', 'restocked'] as const).map((kind) => {
    const { html, text, subject, stopUrl } = write({ ...ask, kind }, SHOP)
    expect(stopUrl).toBe('https://drop.example/mail/stop/the-ask/mac-of-the-ask')
    for (const body of [html, text]) {
      expect(body).toContain(`https://drop.example/sales/drop${kind.startsWith('turn') ? '/line' : ''}`)
      expect(body).toContain('https://drop.example/mail/stop/the-ask/mac-of-the-ask')
      expect(body).not.toMatch(/undefined|\{\w+\}|<b>Jerry/)
    }
    return subject
  })
  expect(new Set(subjects).size).toBe(4)
})

test('a reminder of what was not paid leads to the line, and can be ended', () => {
  const { text, stopUrl } = write({ ...mail, type: 'order.expired', snapshot: null }, SHOP)
  expect(text).toContain('Go to the line: https://drop.example/sales/drop/line')
  expect(stopUrl).toBe('https://drop.example/mail/stop/the-order/mac-of-the-order')
  expect(write({ ...mail, type: 'order.fulfilled', snapshot: null }, SHOP).stopUrl).toBeUndefined()
})

test('names every line, with section, row and seat, and what is left after a refund', () => {
  const line = { product: 'one', name: 'Cap', quantity: 2, unit_price_minor: 500 }
  const seat = { product: 'a', section: true, seat: 7, seat_id: 'A-7', row: 'A', number: '7', name: 'Stalls' } as const
  const seats = [seat, { ...seat, seat_id: 'A-8', number: '8' }].map((one) => ({
    ...one,
    quantity: 1,
    unit_price_minor: 900,
  }))
  const cart = [line, ...seats]
  const { text, html } = write({ ...mail, type: 'order.confirmed', cart, language: 'de' }, SHOP)
  expect(text).toContain(
    'Produkt: 2 × Cap\nTicket: Stalls, Reihe A, Platz 7\nTicket: Stalls, Reihe A, Platz 8\nSumme: 28,00',
  )
  expect(html).toContain('<dd>Stalls, Reihe A, Platz 8</dd>')
  const returned = cart.map((one, i) => (i === 1 ? { ...one, returned: 'refunded' as const } : one))
  const named = { ...mail, type: 'order.confirmed', cart, own_names: { one: 'Mütze' } }
  expect(write(named, SHOP).text).toContain('Product: 2 × Mütze\nTicket: Stalls')
  const part = write({ ...mail, snapshot: { refunded_minor: 900 }, cart: returned }, SHOP).text
  expect(part).toContain('Ticket: Stalls, row A, seat 8')
  expect(part).not.toContain('seat 7')
  expect(part).toContain('Total: €28.00\nRefunded in all: €9.00')
  const unpaid = cart.map((one, i) => (i === 0 ? { ...one, returned: 'unpaid' as const } : one))
  expect(write({ ...mail, type: 'order.confirmed', cart: unpaid }, SHOP).text).toContain('Total: €18.00')
})

test('takes English for a language that it does not speak, and a refund without an amount for the whole', () => {
  const { subject, text } = write({ ...mail, snapshot: {}, language: 'eo' }, SHOP)
  expect(subject).toMatch(/^Your order was refunded/)
  expect(text).toContain('Refunded in all: €10.00')
})

test.each(LANGUAGES)('shows what it costs beside its lines, and where it is sent to, in %s', (language) => {
  const bill = [
    { kind: 'discount', name: 'NOON10', amount_minor: -100 },
    { kind: 'fee', name: 'Gift wrap', amount_minor: 250 },
    { kind: 'shipping', name: '', amount_minor: 490 },
    { kind: 'tax', name: 'VAT', amount_minor: 262, included: true },
  ] as const
  const recipient = { name: 'Ann <Lee>', street: 'Quay 1', postcode: '10115', city: 'Berlin', country: 'DE' }
  const delivery = { ...NO_DELIVERY, kind: 'address' } as const
  const written = write({ ...mail, type: 'order.confirmed', bill, delivery, recipient, language }, SHOP)
  for (const part of ['NOON10', 'Gift wrap', 'VAT', 'Quay 1', '10115 Berlin']) {
    expect(written.text).toContain(part)
    expect(written.html).toContain(part)
  }
  expect(written.html).toContain('Ann &lt;Lee&gt;')
  expect(written.text).not.toMatch(/undefined|\{\w+\}/)
  if (language === 'en')
    expect(written.text).toContain(
      'Discount NOON10: -€1.00\nGift wrap: €2.50\nShipping: €4.90\nVAT, included: €2.62\nTotal: €16.40',
    )
})

test('says what happens next once an order is confirmed, by how it is delivered', () => {
  const next = (delivery: object, type = 'order.confirmed') =>
    write({ ...mail, type, delivery: { ...NO_DELIVERY, ...delivery } }, SHOP).text
  expect(next({ kind: 'pickup', pickup: 'Pier 4, from noon' })).toContain('Pick it up here: Pier 4, from noon')
  expect(next({ kind: 'pickup' })).toContain('where and when to pick it up')
  expect(next({ kind: 'handover' })).toContain('needs your address')
  expect(next({ kind: 'handover' }, 'order.cancelled')).not.toContain('address:')
})

test.each(LANGUAGES)('says when and where it takes place, with a way to the calendar, in %s', (language) => {
  const date = { starts_at: '2026-12-01T19:00:00.000Z', ends_at: '2026-12-01T22:30:00.000Z', time_zone: 'Asia/Tokyo' }
  const about = { ...mail, language, venue: 'Pier 4 & Co', date }
  const { text, html } = write({ ...about, type: 'order.confirmed' }, SHOP)
  for (const body of [text, html]) expect(body).toContain('https://drop.example/sales/drop/event.ics')
  for (const part of ['2026', 'Tokyo', 'Pier 4 & Co']) expect(text).toContain(part)
  expect(html).toContain('Pier 4 &amp; Co')
  expect(write(about, SHOP).text).not.toContain('event.ics')
})

test('says the tax that plain prices include', () => {
  const { text } = write({ ...mail, type: 'order.confirmed', tax: { name: 'VAT', percent: 19 } }, SHOP)
  expect(text).toContain('VAT, included: €1.60\nTotal: €10.00')
})
