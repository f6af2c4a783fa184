/** What buyers read: in their language, and as text only. */
import { expect, test } from 'vitest'
import { LANGUAGES } from '../../shared/api/fields.ts'
import { write } from './template.ts'

const mail = {
  order: 'the-order',
  event: '7-8',
  type: 'order.refunded',
  snapshot: { refunded_minor: 250 },
  order_id: 'the-order',
  sale_id: 'drop',
  quantity: 2,
  unit_price_minor: 500,
  currency: 'EUR',
  cart: null,
  bill: null,
  language: 'en',
  sale: 'Tom & <b>Jerry</b>',
  product: 'A "mouse"',
}

test('escapes what operators write', () => {
  const { html, text, subject } = write(mail, 'https://drop.example')
  expect(html).toContain('Tom &amp; &lt;b&gt;Jerry&lt;/b&gt;')
  expect(html).toContain('2 × A &quot;mouse&quot;')
  expect(html).not.toContain('<b>')
  expect(text).toContain('A "mouse"')
  expect(subject).toBe('A part of your order was refunded: Tom & <b>Jerry</b>')
})

test.each(LANGUAGES)('shows the amounts, the order and the link to it in %s', (language) => {
  for (const type of ['order.confirmed', 'order.cancelled', 'order.refunded']) {
    const { html, text, subject } = write({ ...mail, type, language }, 'https://drop.example')
    expect(html).toContain(`lang="${language}"`)
    for (const body of [html, text]) {
      expect(body).toContain('the-order')
      expect(body).toContain('https://drop.example/sales/drop/order/the-order')
      expect(body).not.toMatch(/undefined|\{\w+\}/)
    }
    expect(subject).toContain('Tom')
  }
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
  const { text, html } = write({ ...mail, type: 'order.confirmed', cart, language: 'de' }, 'https://drop.example')
  expect(text).toContain(
    'Produkt: 2 × Cap\nTicket: Stalls, Reihe A, Platz 7\nTicket: Stalls, Reihe A, Platz 8\nSumme: 28,00',
  )
  expect(html).toContain('<dd>Stalls, Reihe A, Platz 8</dd>')
  const returned = cart.map((one, i) => (i === 1 ? { ...one, returned: 'refunded' as const } : one))
  const part = write({ ...mail, snapshot: { refunded_minor: 900 }, cart: returned }, 'https://drop.example').text
  expect(part).toContain('Ticket: Stalls, row A, seat 8')
  expect(part).not.toContain('seat 7')
  expect(part).toContain('Total: €28.00\nRefunded in all: €9.00')
  const unpaid = cart.map((one, i) => (i === 0 ? { ...one, returned: 'unpaid' as const } : one))
  expect(write({ ...mail, type: 'order.confirmed', cart: unpaid }, 'https://drop.example').text).toContain(
    'Total: €18.00',
  )
})

test('takes English for a language that it does not speak, and a refund without an amount for the whole', () => {
  const { subject, text } = write({ ...mail, snapshot: {}, language: 'eo' }, 'https://drop.example')
  expect(subject).toMatch(/^Your order was refunded/)
  expect(text).toContain('Refunded in all: €10.00')
})
