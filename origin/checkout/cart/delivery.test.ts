/** The checkout asks for what the country's form asks for. */
import { expect, it } from 'vitest'
import { addressFormOf } from '../../../shared/api/addresses.ts'
import { COUNTRIES } from '../../../shared/api/countries.ts'
import { type Delivery, NO_DELIVERY } from '../../../shared/api/goods.ts'
import { deliveryOf } from './delivery.ts'

const SENT: Delivery = { ...NO_DELIVERY, kind: 'address' }
const wrongIn = (address: object) => deliveryOf(SENT, address).errors.map(({ field }) => field.split('.')[1])

it('misses in each country exactly the parts that its form requires', () => {
  for (const country of COUNTRIES)
    expect(wrongIn({ country }).toSorted(), country).toEqual([...addressFormOf(country).required].toSorted())
  expect(wrongIn({})).toEqual(['name', 'street', 'city', 'country'])
})

const ADA = { name: 'Ada', street: 'Elm Row 12', city: 'Town' }
it.each([
  ['DE', { postcode: '10119' }, []],
  ['DE', { postcode: '1011' }, ['postcode']],
  ['IE', {}, []],
  ['US', { postcode: '97205' }, ['region']],
  ['AG', {}, []],
])('in %s with %o finds wrong: %o', (country, more, wrong) => {
  expect(wrongIn({ ...ADA, country, ...more })).toEqual(wrong)
})

it('keeps all of an address that was sent', () => {
  const sent = { ...ADA, line2: 'Floor 3', postcode: '999077', region: 'Kowloon', country: 'HK' }
  expect(deliveryOf(SENT, sent)).toEqual({ address: sent, errors: [] })
})
