import { expect, test } from 'vitest'
import { workerRuns } from './feed.ts'

test('readers of a feed cost their reads where they are few, and what the copies allow where they are many', () => {
  // The readers read every four and a half seconds on average, and a copy is valid for two.
  expect(workerRuns(1, 1)).toBeCloseTo(1 / (4.5 + 2))
  expect(workerRuns(0.33, 330)).toBeCloseTo(0.33 / 4.5)
  expect(workerRuns(1e12, 330)).toBeCloseTo(330 / 2)
  expect(workerRuns(100_000, 330)).toBeLessThan(330 / 2)
})
