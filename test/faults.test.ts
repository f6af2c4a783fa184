/** The fault test, briefly and with one seed; for longer: `npm run torture`. */
import { expect, test } from 'vitest'
import { torture } from './torture.ts'
import { PARTS } from './torture-system.ts'

test('whatever is killed in mid-sale, no promise is broken and no unit is sold twice', async () => {
  const report = await torture({ seed: 1, seconds: 12, buyers: 50, settleWithinMs: 40_000 })
  expect(report.violations).toEqual([])
  for (const part of PARTS) expect(report.kills[part]).toBeGreaterThan(0)
  expect(report.outcome.confirmed).toBeGreaterThan(10)
}, 90_000)
