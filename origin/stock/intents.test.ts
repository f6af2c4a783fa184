import fc from 'fast-check'
import { expect, test } from 'vitest'
import { reservationOf } from '../../test/lib/samples.ts'
import { cartIn, unitsText } from '../ledger/cart.ts'
import { Intents, readStored, storedDetails, withoutContact } from './intents.ts'
import { Replicas } from './replicas.ts'
import type { Store } from './scripts.ts'

test('a cart travels through Redis as one text', () => {
  const part = fc.oneof(
    fc.record({
      product: fc.stringMatching(/^[A-Za-z0-9%][A-Za-z0-9_-]{0,9}$/),
      quantity: fc.integer({ min: 1, max: 999 }),
    }),
    fc
      .record({
        product: fc.constantFrom('stalls', 'box'),
        seats: fc.array(fc.nat(100_000), { minLength: 1, maxLength: 9 }),
      })
      .map(({ product, seats }) => ({ product, quantity: seats.length, seats })),
  )
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (cart) => {
      expect(cartIn(unitsText({ product: 'x', quantity: 1, cart }))).toEqual(cart)
    }),
  )
  expect(cartIn('one')).toBeNull()
})

test('a contact is not shown with an intent that is set aside', () => {
  const r = { ...reservationOf('s'), method: 'pm_ok' }
  const stored = (details: string) => `1 1 one key hash ${details} user:an account`
  const withContact = storedDetails({ ...r, contact: { email: 'ada@example.com', address: null, language: 'en' } })
  expect(withoutContact(stored(withContact))).toBe(stored(storedDetails(r)))
})

test('an intent that is recovered has the source of its visitor', () => {
  // Reading a stored text asks no store.
  const redis = {} as Store
  const intents = new Intents(redis, new Replicas(redis), 's', '{s}:unrecorded')
  for (const source of ['newsletter spring drop', 'example.org', undefined]) {
    const { order, ...r } = { ...reservationOf('s'), ...(source && { source }) }
    const stored = `17 1 one ${r.key} ${r.hash} ${storedDetails({ order, ...r })} ${r.visitor}`
    expect(intents.intent(order, stored).reservation).toEqual({ order, ...r })
  }
})

test('a stored intent is read by its fields, and a damaged one is none', () => {
  const r = { ...reservationOf('s'), method: 'pm_ok' }
  const contact = { email: 'ada@example.com', address: null, language: 'en' }
  const payment = storedDetails({ ...r, contact })
    .split(' ')
    .at(-1)
  const stored = `17pt 2 one key hash public 7 queue ${payment} user:an account`
  expect(readStored(stored)).toEqual({
    atMs: '17pt',
    quantity: '2',
    units: 'one',
    key: 'key',
    hash: 'hash',
    line: 'public',
    number: '7',
    seller: 'queue',
    payment,
    visitor: 'user:an account',
  })
  expect(readStored('17 2 one key hash public 7 queue  v')).toMatchObject({ payment: '', visitor: 'v' })
  const damaged = [
    '',
    'one',
    '17 2 one key hash public 7 queue pm_ok',
    '17 2 one key hash public 7 queue pm_ok ',
    'x 2 one k h l 7 queue p v',
  ]
  for (const text of [
    ...damaged,
    '17 two one k h l 7 queue p v',
    '17 2  k h l 7 queue p v',
    '17 2 one k h l 7 queue p&& v',
    '17 2 one k h l 7 nobody p v',
    '17 2 one=two k h l 7 queue p v',
    '17 2 stalls:1,;two=1 k h l 7 queue p v',
  ])
    expect(readStored(text), text).toBeNull()
})
