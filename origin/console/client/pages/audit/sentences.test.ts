import { expect, test } from 'vitest'
import { type Entry, sentenceOf } from './sentences.ts'

const says = (action: string, before: unknown, after: unknown, changes: Partial<Entry> = {}) => {
  const about = { sale: 's', sale_name: 'S', product_id: null, product_name: null, order_id: null, currency: null }
  return sentenceOf({
    entry: '1',
    at: '2026-11-23T06:54:45Z',
    operator: 'ada',
    action,
    before,
    after,
    ...about,
    ...changes,
  })
}

test('says what was done to a sale in a sentence', () => {
  expect(says('promo codes imported', { codes: 1 }, { codes: 1_200 })).toBe(
    'changed the list of promo codes, from 1 to 1,200',
  )
  expect(says('promo codes imported', { codes: 1 }, { codes: 1 })).toBe('changed the list of 1 promo code')
  expect(says('rate set', { rate_per_second: 30 }, { rate_per_second: 45 })).toBe(
    'raised the rate from 30 to 45 a second',
  )
  expect(says('rate set', { rate_per_second: 45 }, { rate_per_second: 0.5 })).toMatch(/^lowered .* to 0\.5 a second$/)
  expect(says('paused', { paused: false }, { paused: true, pause_reason: { de: 'Gleich.' } })).toBe(
    'paused the sale: “Gleich.”',
  )
  expect(says('paused', { paused: false }, { paused: true })).toBe('paused the sale')
  const size = { product_id: 'a1-42', product_name: 'Aurora One, size 42' }
  expect(says('restocked', { total: 1_700 }, { total: 2_200, quantity: 500 }, size)).toBe(
    'added 500 units of Aurora One, size 42: 1,700 are now 2,200',
  )
  const price = (unit_price_minor: number) => ({
    products: { red: { name: 'Red', currency: 'EUR', unit_price_minor } },
  })
  expect(says('price set', price(2_500), price(1_950))).toBe('changed the price of Red from €25.00 to €19.50')
})

test('says which things of a sale were changed, and one of them as it was and is', () => {
  expect(says('changed', { hold_seconds: 120 }, { hold_seconds: 90 })).toBe('changed the hold seconds from 120 to 90')
  const [was, is] = [
    { name: 'A', hold_seconds: 120 },
    { name: 'B', hold_seconds: 90 },
  ]
  expect(says('changed', was, is)).toBe('changed 2 things of the sale: name, hold seconds')
  expect(says('changed', {}, {})).toBe('saved the sale as it was')
})

test('says what was done about orders, people and endpoints', () => {
  expect(says('refund requested', {}, { amount_minor: 450, reason: 'a scratch' }, { currency: 'EUR' })).toBe(
    'refunded €4.50 of the order: a scratch',
  )
  expect(says('rule added', null, { action: 'prove', when: { asn: 64_502 } })).toBe(
    'made a rule: Ask for a proof of work first: network number 64502',
  )
  expect(says('block added', null, { by: 'visitor', note: '' })).toBe('blocked a visitor')
  expect(says('block removed', { by: 'account', note: 'resellers' }, null)).toBe(
    'took back the block of an account: resellers',
  )
  expect(says('invitations imported', null, { imported: 1, replace: true })).toBe(
    'uploaded 1 invitation code in place of all others',
  )
  const endpoint = { url: 'https://shop.example/hook', state: 'active' }
  expect(says('webhook changed', endpoint, { ...endpoint, state: 'paused' })).toBe(
    'paused the webhook endpoint https://shop.example/hook',
  )
})

test('has none for what it does not know', () => {
  expect(says('made of cheese', null, null)).toBeNull()
})
