import { expect, test } from 'vitest'
import { describe, type Entry } from './sentences.ts'

const about = {
  sale: 's',
  sale_name: 'S',
  product_id: null,
  product_name: null,
  order_id: null,
  currency: null,
  is_parcel: null,
}
const entry = { entry: '1', at: '2026-11-23T06:54:45Z', operator: 'ada', ...about }
const says = (action: string, before: unknown, after: unknown, changes: Partial<Entry> = {}) =>
  describe({ ...entry, action, before, after, ...changes }).sentence

const price = (unit_price_minor: number) => ({ products: { red: { name: 'Red', currency: 'EUR', unit_price_minor } } })
const SIZE = { product_id: 'a1-42', product_name: 'Aurora, 42' }
const HOOK = { url: 'https://shop.example/hook', state: 'active' }

test.each<[says: string | null, action: string, before: unknown, after: unknown, changes?: Partial<Entry>]>([
  ['changed the list of promo codes, from 1 to 1,200', 'promo codes imported', { codes: 1 }, { codes: 1_200 }],
  ['changed the list of 1 promo code', 'promo codes imported', { codes: 1 }, { codes: 1 }],
  ['raised the rate from 30 to 45 a second', 'rate set', { rate_per_second: 30 }, { rate_per_second: 45 }],
  ['lowered the rate from 45 to 0.5 a second', 'rate set', { rate_per_second: 45 }, { rate_per_second: 0.5 }],
  ['paused the sale: “Gleich.”', 'paused', { paused: false }, { paused: true, pause_reason: { de: 'Gleich.' } }],
  ['paused the sale', 'paused', { paused: false }, { paused: true }],
  [
    'added 500 units of Aurora, 42: 1,700 are now 2,200',
    'restocked',
    { total: 1_700 },
    { total: 2_200, quantity: 500 },
    SIZE,
  ],
  ['changed the price of Red from €25.00 to €19.50', 'price set', price(2_500), price(1_950)],
  ['changed the hold seconds from 120 to 90', 'changed', { hold_seconds: 120 }, { hold_seconds: 90 }],
  [
    'changed 2 things of the sale: name, hold seconds',
    'changed',
    { name: 'A', hold_seconds: 120 },
    { name: 'B', hold_seconds: 90 },
  ],
  ['saved the sale as it was', 'changed', {}, {}],
  [
    'refunded €4.50 of the order: a scratch',
    'refund requested',
    {},
    { amount_minor: 450, reason: 'a scratch' },
    { currency: 'EUR' },
  ],
  [
    'made a rule: Ask for a proof of work first: network number 64502',
    'rule added',
    null,
    { action: 'prove', when: { asn: 64_502 } },
  ],
  ['blocked a visitor', 'block added', null, { by: 'visitor', note: '' }],
  ['took back the block of an account: resellers', 'block removed', { by: 'account', note: 'resellers' }, null],
  ['uploaded 1 invitation code in place of all others', 'invitations imported', null, { imported: 1, replace: true }],
  ['paused the webhook endpoint https://shop.example/hook', 'webhook changed', HOOK, { ...HOOK, state: 'paused' }],
  [null, 'made of cheese', null, null],
])('says in a sentence: %s', (sentence, action, before, after, changes) => {
  expect(says(action, before, after, changes)).toBe(sentence)
})
