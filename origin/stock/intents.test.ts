import fc from 'fast-check'
import { expect, test } from 'vitest'
import { reservationOf } from '../../test/lib/samples.ts'
import { cartIn, unitsText } from '../ledger/cart.ts'
import { storedDetails, withoutContact } from './intents.ts'

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
