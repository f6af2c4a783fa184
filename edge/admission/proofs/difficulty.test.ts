import { expect, it } from 'vitest'
import { networksOf } from '../../http/limits/networks.ts'
import { HALF_LIFE_MS, MAX_FACTOR, NetworkShares } from './difficulty.ts'

const NOW_MS = Date.parse('2026-11-27T12:00:00Z')

/** Makes this many challenges, spread over a minute and over addresses, and returns the price of the last. */
function crowd(shares: NetworkShares, many: number, addressOf: (i: number) => string, fromMs = NOW_MS): number {
  let price = 0
  for (let i = 0; i < many; i++) price = shares.take('drop', networksOf(addressOf(i)), fromMs + (i / many) * 60_000)
  return price
}

const anyone = (i: number) => `${11 + (i % 80)}.${(i >> 3) % 250}.${(i >> 5) % 250}.${i % 250}`

it('asks the usual of a household, also where nobody else has come yet', () => {
  const shares = new NetworkShares()
  expect(crowd(shares, 8, () => '192.0.2.7')).toBe(1)
  expect(crowd(shares, 8, (i) => `2001:db8:1:2::${i}`)).toBe(1)
})

it('asks the usual of everybody in a crowd, and of a carrier with one in a hundred behind an address', () => {
  const shares = new NetworkShares()
  for (let i = 0; i < 10_000; i++) {
    const address = i % 150 === 0 ? '198.51.100.1' : anyone(i)
    expect(shares.take('drop', networksOf(address), NOW_MS + i)).toBe(1)
  }
})

it.each([
  ['one address', () => '192.0.2.7'],
  ['one /24', (i: number) => `192.0.2.${i % 250}`],
  ['one /64', (i: number) => `2001:db8:1:2::${i.toString(16)}`],
  ['one /48', (i: number) => `2001:db8:1:${i.toString(16)}::1`],
])('asks many times the usual of %s with a third of all, and the usual of all others', (_, bots) => {
  const shares = new NetworkShares()
  let most = 0
  for (let i = 0; i < 3_000; i++) {
    const price = shares.take('drop', networksOf(i % 3 === 0 ? bots(i) : anyone(i)), NOW_MS + i * 10)
    if (i % 3 === 0) most = price
    else expect(price).toBe(1)
  }
  expect(most).toBeGreaterThan(4)
  expect(most).toBeLessThanOrEqual(MAX_FACTOR)
})

it('never asks more than its limit, and falls again', () => {
  const shares = new NetworkShares()
  expect(crowd(shares, 5_000, () => '192.0.2.7')).toBe(MAX_FACTOR)
  const later = NOW_MS + 60_000
  const after = (halfLives: number) => shares.take('drop', networksOf('192.0.2.7'), later + halfLives * HALF_LIFE_MS)
  expect(after(5)).toBeLessThan(MAX_FACTOR)
  expect(after(12)).toBe(1)
})

it('counts each sale by itself, and stands a clock that is put back', () => {
  const shares = new NetworkShares()
  crowd(shares, 1_000, () => '192.0.2.7')
  expect(shares.take('other', networksOf('192.0.2.7'), NOW_MS)).toBe(1)
  expect(shares.take('drop', networksOf('192.0.2.7'), NOW_MS - 3_600_000)).toBe(MAX_FACTOR)
  expect(shares.take('drop', networksOf('192.0.2.8'), NOW_MS - 3_600_000)).toBeLessThanOrEqual(MAX_FACTOR)
})

it('asks the same of all whose address is not known, as of one caller', () => {
  const shares = new NetworkShares()
  expect(crowd(shares, 300, () => '')).toBeGreaterThan(10)
})
