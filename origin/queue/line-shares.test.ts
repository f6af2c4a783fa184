import { once } from 'node:events'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useFlakyProxy } from '../../test/lib/flaky-proxy.ts'
import { useRedis } from '../../test/lib/servers.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { connectRedis } from '../lib/redis/redis.ts'
import { defineScripts, type Store } from '../stock/scripts.ts'
import { LineShares } from './line-shares.ts'

const server = useRedis()
const way = useFlakyProxy(() => server.port)
/** Each is of a line that was divided by weight alone. */
const warnings: string[] = []
const log = pino({ level: 'warn' }, { write: (line) => void warnings.push(line) })
const stores: Store[] = []
beforeAll(async () => {
  for (const _ of [1, 2]) {
    const redis = defineScripts(connectRedis(way.through(server.url), log))
    await once(redis, 'ready')
    stores.push(redis)
  }
})
afterAll(() => {
  for (const redis of stores) redis.disconnect()
})

const LINES = [3, 1, 1, 1].map((weight, i) => ({ line: `line-${i}`, weight, opens_early_seconds: 0, access: null }))

const saleOf = (sale_id: string) =>
  ({
    sale_id,
    lines: LINES,
    rate_per_second: 60,
    max_inside: 60,
    opens_at: new Date(0),
    products: [{ total: 600, buffer: 0, held: 0, sold: 0 }],
  }) as unknown as SaleRow

const RATES = { called_per_second: 0, boost: 1, throttle: 1, clock_ms: 0 }
const FIGURES = {
  numbers_given: 1_000,
  called: 0,
  waiting: 1_000,
  coming_units: 0,
  coming_people: 0,
  likely_people: 0,
  ...RATES,
}

/** All lines ask at once, some from the one origin and some from the other. */
function askAll(sale: SaleRow, nowMs: number) {
  const origins = stores.map((redis) => new LineShares(redis, log))
  return Promise.all(
    LINES.map(
      ({ line }, i) =>
        origins[i % 2]?.of(sale, line, FIGURES, { waiting_for_stock: 0, on_site: 0, nowMs }) ?? expect.unreachable(),
    ),
  )
}

/** The same, once Redis has answered all of them in time. */
async function askAllInTime(sale: SaleRow, nowMs: number): ReturnType<typeof askAll> {
  for (;;) {
    warnings.length = 0
    const parts = await askAll(sale, nowMs)
    if (warnings.length === 0) return parts
  }
}

const sum = (numbers: readonly (number | null)[]) => numbers.reduce<number>((total, one) => total + (one ?? 0), 0)

test('several origins that are asked at the same moment give out no more than there is', async () => {
  const sale = saleOf('asked-at-once')
  for (let nowMs = 1e6; nowMs < 1e6 + 10_000; nowMs += 1_000) {
    const parts = await askAllInTime(sale, nowMs)
    expect(sum(parts.map((part) => part.rate_per_second))).toBeLessThanOrEqual(60)
    expect(sum(parts.map((part) => part.max_inside))).toBeLessThanOrEqual(60)
    expect(sum(parts.map((part) => part.share))).toBeLessThanOrEqual(1 + 1e-9)
  }
  const last = await askAllInTime(sale, 1e6 + 10_000)
  expect(last).toEqual([30, 10, 10, 10].map((part) => ({ rate_per_second: part, max_inside: part, share: part / 60 })))
})

test('while Redis is away each line has the part of its weight', async () => {
  way.vanish()
  const parts = await askAll(saleOf('away'), 1e6)
  expect(parts.map((part) => part.rate_per_second)).toEqual([30, 10, 10, 10])
})

test('a sale of one line has all of it, and asks nobody', async () => {
  const sale = { ...saleOf('alone'), lines: LINES.slice(0, 1) }
  const shares = new LineShares({} as Store, log)
  expect(await shares.of(sale, 'line-0', FIGURES, { waiting_for_stock: 0, on_site: 0, nowMs: 1e6 })).toEqual({
    rate_per_second: 60,
    max_inside: 60,
    share: 1,
  })
})
