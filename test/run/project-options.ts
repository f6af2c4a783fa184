/** The options that the projects of test/vitest.config.ts and edge/vitest.config.ts share. */
import { availableParallelism } from 'node:os'
import { POLL_WITHIN_MS, TEST_WITHIN_MS } from './patience.ts'

/** The files of a project share a worker, which loads its modules once, and have the same time limits. */
export const waiting = {
  isolate: false,
  expect: { poll: { timeout: POLL_WITHIN_MS } },
  testTimeout: TEST_WITHIN_MS,
  hookTimeout: TEST_WITHIN_MS,
}

/** Node loads the files itself, as in production, which takes half of the time that Vite's own modules take. */
export const inNode = { ...waiting, experimental: { viteModuleRunner: false } }

const cores = availableParallelism()

/**
 * The edge's tests mostly wait, and need no program of the machine: they run first, beside the checks of the sources
 * and the installation of programs.
 */
export const first = { maxWorkers: 3 * cores, sequence: { groupOrder: 0 } }

/** Whole systems and browsers keep the processors busy, and wait a little. */
export const few = { maxWorkers: Math.ceil(1.5 * cores), sequence: { groupOrder: 1 } }

/** All other tests mainly wait: with one worker for each processor, half of the time would be idle. */
export const many = { maxWorkers: 2 * cores, sequence: { groupOrder: 2 } }
