/** The options that the projects of test/vitest.config.ts and edge/vitest.config.ts share. */
import { availableParallelism } from 'node:os'
import { POLL_WITHIN_MS, TEST_WITHIN_MS } from './patience.ts'

/** The files of a project share a worker, which loads its modules once, and have the same time limits. */
export const waiting = {
  isolate: false,
  expect: { poll: { timeout: POLL_WITHIN_MS } },
  testTimeout: TEST_WITHIN_MS,
  hookTimeout: TEST_WITHIN_MS,
  // The driver is a package, though its files are in the repository: Vite leaves it as it is.
  server: { deps: { external: [/\/vendor\/postgres\//] } },
}

/**
 * Whole systems and browsers keep the processors busy, so there is one worker for each processor, and they run before
 * all other tests.
 */
export const few = { maxWorkers: availableParallelism(), sequence: { groupOrder: 0 } }

/** All other tests mainly wait: with one worker for each processor, half of the time would be idle. */
export const many = { maxWorkers: 2 * availableParallelism(), sequence: { groupOrder: 1 } }
