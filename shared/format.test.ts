import { expect, it } from 'vitest'
import { decimal, minorOf, money } from './format.ts'

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

it.each([
  ['39', 'EUR', 3_900],
  ['39,5', 'EUR', 3_950],
  [' 39.50 ', 'EUR', 3_950],
  ['39', 'JPY', 39],
  ['1.005', 'KWD', 1_005],
  ['39.505', 'EUR', null],
  ['39.5', 'JPY', null],
  ['1,000.00', 'EUR', null],
  ['-1', 'EUR', null],
  ['1e3', 'EUR', null],
  ['', 'EUR', null],
])('an amount written as "%s" in %s is %s', (text, currency, minor) => {
  expect(minorOf(text, currency)).toBe(minor)
  if (minor !== null) expect(minorOf(decimal(minor, currency), currency)).toBe(minor)
})
