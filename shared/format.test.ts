import { expect, it } from 'vitest'
import { money } from './format.ts'

it.each([
  ['EUR', 12_900, '129.00'],
  ['HUF', 12_900, '129.00'],
  ['COP', 12_900, '129.00'],
  ['MGA', 12_900, '129.00'],
  ['JPY', 12_900, '12,900'],
  ['KRW', 12_900, '12,900'],
  ['ISK', 12_900, '12,900'],
  ['IQD', 12_900, '12.900'],
  ['KWD', 12_905, '12.905'],
])('a price in %s has the minor unit of ISO 4217', (currency, minor, amount) => {
  expect(money('en', minor, currency).replace(/[^\d.,]/g, '')).toBe(amount)
})
