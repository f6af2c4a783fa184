import { expect, test } from 'vitest'
import { fillGaps } from './gap-fill.ts'

const minute = (at: number, joined: number, sold: number) => ({
  minute: new Date(at * 60_000).toISOString(),
  counts: { joined },
  gauges: { sold },
})
const quiet = (at: number, sold: number) => ({ ...minute(at, 0, sold), counts: {} })

test('a quiet time counts nothing and keeps what was, from its first minute to its last', () => {
  const minutes = [minute(0, 5, 1), minute(1, 3, 2), minute(30, 1, 3), minute(32, 1, 4)]
  expect(fillGaps(minutes)).toEqual([
    ...[minute(0, 5, 1), minute(1, 3, 2), quiet(2, 2), quiet(29, 2)],
    ...[minute(30, 1, 3), quiet(31, 3), minute(32, 1, 4)],
  ])
  expect(fillGaps([minute(0, 5, 1)])).toEqual([minute(0, 5, 1)])
  expect(fillGaps([])).toEqual([])
})
