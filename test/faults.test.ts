/** The fault test, briefly and with one seed (for longer: `npm run torture`), and what it holds against the ledger. */
import { expect, test } from 'vitest'
import { Notebook } from '../bench/faults/buyers.ts'
import { brokenPromises } from '../bench/faults/checks.ts'
import { PARTS } from '../bench/faults/system.ts'
import { torture, untriedOf } from '../bench/faults/torture.ts'

test('whatever is killed in mid-sale, no promise is broken and no unit is sold twice', async () => {
  const report = await torture({ seed: 1, seconds: 12, buyers: 50, settleWithinMs: 40_000 })
  expect(report.violations).toEqual([])
  for (const part of PARTS) expect(report.kills[part]).toBeGreaterThan(0)
  expect(report.outcome.confirmed).toBeGreaterThan(10)
}, 90_000)

test('an order that was on its way and never came is a broken promise, unless its buyer heard of another or of none', () => {
  const notes = new Notebook()
  for (const key of ['lost', 'came', 'another', 'none']) notes.onItsWay('v', key, `order-${key}`)
  notes.settled('v', 'another', 'order-2')
  notes.settled('v', 'none', null)
  const came = { order_id: 'order-came', visitor: 'v', status: 'expired' }
  expect(brokenPromises(notes, [came])).toEqual([
    'order order-lost was said to be on its way, and never came to be',
  ])
  expect([notes.promises, notes.superseded]).toEqual([4, 2])
})

test('a fault test in which nothing was killed, or nothing promised, proves nothing', () => {
  const kills = { redis: 0, postgres: 0, api: 1, worker: 0 }
  expect(untriedOf({ kills, promised: 9 })).toBeNull()
  expect(untriedOf({ kills, promised: 0 })).toBe('No order was promised')
  expect(untriedOf({ kills: { ...kills, api: 0 }, promised: 9 })).toBe('Nothing was killed')
})
