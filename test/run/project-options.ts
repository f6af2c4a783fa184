/** What the projects of test/vitest.config.ts and edge/vitest.config.ts have in common. */
import { availableParallelism } from 'node:os'
import { POLL_WITHIN_MS, TEST_WITHIN_MS } from './patience.ts'

/** Files of a project share a worker, which loads its modules once; what they await is bounded alike. */
export const waiting = {
  isolate: false,
  expect: { poll: { timeout: POLL_WITHIN_MS } },
  testTimeout: TEST_WITHIN_MS,
  hookTimeout: TEST_WITHIN_MS,
}

/** Whole systems and browsers keep the processors busy: one for each, first and apart from all others. */
export const few = { maxWorkers: availableParallelism(), sequence: { groupOrder: 0 } }

/** Other tests wait more than they compute: with one worker for each processor half of the time would be idle. */
export const many = { maxWorkers: 2 * availableParallelism(), sequence: { groupOrder: 1 } }
