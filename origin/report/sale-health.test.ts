import { describe, expect, it } from 'vitest'
import { type Situation, soldOutAtMs, summaryOf } from './sale-health.ts'

const fine: Situation = {
  phase: 'open',
  adds_up: true,
  ledger: true,
  redis: true,
  edge_seconds: 1,
  workers: 1,
  provider: 'answers',
  findings: 0,
  oldest_charge_seconds: null,
  waiting: 12,
}

describe('the summary of health', () => {
  it.each([
    ['It goes well.', {}],
    ['Stock does not add up', { adds_up: false, redis: false }],
    ['Neither Postgres nor Redis', { ledger: false, redis: false }],
    ['Postgres does not answer', { ledger: false }],
    ['Redis does not answer', { redis: false, findings: 3 }],
    ['The edge has not asked', { edge_seconds: 20 }],
    ['No worker runs', { workers: 0, edge_seconds: 20 }],
    ['The provider of payments does not answer', { provider: 'fails' }],
    ['Charges wait', { oldest_charge_seconds: 61 }],
    ['1 finding is open', { findings: 1 }],
    ['The sale is paused', { phase: 'paused', edge_seconds: null }],
  ] as const)('says the worst first: %s', (text, wrong) => {
    expect(summaryOf({ ...fine, ...wrong }).text).toContain(text)
  })
})

describe('the forecast', () => {
  const minute = (at: number, sold: number, gauges: Record<string, number> = {}) => ({
    minute: new Date(at * 60_000).toISOString(),
    gauges: { total: 1_100, available: 1_000 - sold, held: 0, sold, waiting: 9, ...gauges },
  })
  it('goes on at the pace of the last minutes', () => {
    const minutes = [0, 1, 2, 3, 4, 5].map((at) => minute(at, 100 * at))
    expect(soldOutAtMs(minutes, 6 * 60_000)).toBe(11 * 60_000)
  })
  it('forgets the pace of hours ago, and counts neither the buffer nor what is sold', () => {
    const minutes = [minute(0, 0), minute(2, 400), minute(120, 500)]
    expect(soldOutAtMs(minutes, 121 * 60_000)).toBe((121 + 25) * 60_000)
  })
  it('says nothing while nothing is sold, when all is, when all is in carts, and when nobody waits', () => {
    expect(soldOutAtMs([minute(0, 5), minute(1, 5)], 120_000)).toBeNull()
    expect(soldOutAtMs([minute(0, 5), minute(1, 1_000)], 120_000)).toBeNull()
    expect(soldOutAtMs([minute(0, 5), minute(1, 980, { available: 0, held: 20 })], 120_000)).toBeNull()
    expect(soldOutAtMs([minute(0, 5), minute(1, 980, { waiting: 0 })], 120_000)).toBeNull()
    expect(soldOutAtMs([], 0)).toBeNull()
  })
})
