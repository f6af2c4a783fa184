import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decimal, eventTimes, minorOf, moment, momentSeen, money, numberOf, shortly, shortNumber } from './format.ts'

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

it('an order number is six unambiguous symbols, and eight from the billionth order on', () => {
  expect([0, 1, 2 ** 30 - 1, 2 ** 30, 2 ** 40 - 1].map(shortNumber)).toEqual([
    ...['222-222', '222-223', 'ZZZ-ZZZ'],
    ...['2322-2222', 'ZZZZ-ZZZZ'],
  ])
})

it('an order number is read back however it is typed', () => {
  const number = fc.integer({ min: 1, max: 2 ** 40 - 1 })
  fc.assert(
    fc.property(number, (n) => {
      const text = shortNumber(n)
      expect(numberOf(text)).toBe(n)
      expect(numberOf(` ${text.toLowerCase().replace('-', ' ')}`)).toBe(n)
    }),
  )
  for (const text of ['', 'K7Q-4M', 'K7Q-4M0', 'K7Q-4MI', '0000000000', '2222-2222']) expect(numberOf(text)).toBeNull()
})

const starts_at = '2026-12-12T19:00:00+09:00'
const ends_at = '2026-12-12T22:30:00+09:00'
it.each([
  ['en', null, 'Dec 12, 2026, 7:00 PM, Tokyo'],
  ['en', ends_at, 'Dec 12, 2026, 7:00 – 10:30 PM, Tokyo'],
  ['de', ends_at, '12. Dez. 2026, 19:00–22:30 Uhr, Tokyo'],
  ['ja', null, '2026年12月12日 19:00、Tokyo'],
])("in %s, an event that ends at %s is told by the venue's clock", (lang, ends, text) => {
  const told = eventTimes(lang, { starts_at, ends_at: ends, time_zone: 'Asia/Tokyo' })
  // Intl writes narrow spaces.
  expect(told.replace(/\s/g, ' ')).toBe(text)
  expect(eventTimes(lang, { starts_at, ends_at: ends, time_zone: 'America/New_York' })).toContain('New York')
})

it('a time of today is said without its date', () => {
  const noon = new Date(2026, 11, 12, 12).getTime()
  const seen = (lang: string, hours: number) => momentSeen(lang, noon, noon + hours * 3_600_000).replace(/\s/g, ' ')
  expect(seen('en', -11)).toMatch(/^today, 12:00 PM /)
  expect(seen('de', 11)).toMatch(/^heute, 12:00 /)
  expect(seen('ja', 0)).toMatch(/^今日、/)
  expect(seen('en', 13)).toMatch(/^Dec 12, 2026, 12:00 PM /)
})

it('other times name the zone of their clock', () => {
  const atMs = Date.parse(starts_at)
  expect(moment('en', atMs, 'UTC').replace(/\s/g, ' ')).toBe('Dec 12, 2026, 10:00 AM UTC')
  expect(moment('de', atMs, 'Europe/Berlin')).toBe('12. Dez. 2026, 11:00 MEZ')
  expect(shortly('de', atMs, atMs, 'Europe/Berlin')).toBe('Sa, 11:00 MEZ')
})
