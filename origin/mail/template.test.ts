/** What buyers read: in their language, and as text only. */
import { expect, test } from 'vitest'
import { LANGUAGES } from '../../shared/api/public.ts'
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

test('takes English for a language that it does not speak, and a refund without an amount for the whole', () => {
  const { subject, text } = write({ ...mail, snapshot: {}, language: 'eo' }, 'https://drop.example')
  expect(subject).toMatch(/^Your order was refunded/)
  expect(text).toContain('Refunded in all: €10.00')
})
