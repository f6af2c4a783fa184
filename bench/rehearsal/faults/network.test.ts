import { expect, test } from 'vitest'
import { seededRandom } from '../../../shared/lib/random.ts'
import { disturbances, NETWORK_FAULTS } from './network.ts'

const PAIRS = ['api and Postgres', 'api and Redis', 'edge and api']

function first(count: number, seed: number) {
  const schedule = disturbances(PAIRS, seededRandom(seed))
  return Array.from({ length: count }, () => schedule.next().value)
}

test('a seed repeats the faults of a network, and another one has others', () => {
  expect(first(30, 7)).toEqual(first(30, 7))
  expect(first(30, 7)).not.toEqual(first(30, 8))
})

test('each fault and each pair of parts has its turn in every round, for seconds', () => {
  const all = first(30, 7)
  for (let from = 0; from < all.length; from += NETWORK_FAULTS.length)
    expect(new Set(all.slice(from, from + NETWORK_FAULTS.length).map(({ fault }) => fault)).size).toBe(5)
  for (let from = 0; from < all.length; from += PAIRS.length)
    expect(new Set(all.slice(from, from + PAIRS.length).map(({ between }) => between)).size).toBe(3)
  for (const { lastsMs } of all) expect(lastsMs).toBeGreaterThanOrEqual(1_000)
})
