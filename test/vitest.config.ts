/**
 * Every test of the repository. run/tiers.ts sorts the files into projects by what they import.
 *
 *     npm test -- --project origin
 */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { assetsDefinition } from '../dev/build.ts'
import { PATIENCE, POLL_WITHIN_MS, TEST_WITHIN_MS } from './run/patience.ts'
import { testsByProject } from './run/tiers.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))
const edge = path('../edge/vitest.config.ts')

/** Whole systems and browsers keep the processors busy: one for each. */
const SYSTEM_WORKERS = availableParallelism()
/** Other tests wait more than they compute: with one worker for each processor half of the time would be idle. */
const WORKERS = 2 * availableParallelism()
// Tests start some two hundred processes: each loads its modules faster from the cache.
process.env.NODE_COMPILE_CACHE ??= `${root}node_modules/.cache/compiled`

/** Files of a project share workers (`isolate: false`), which load its modules once, and are used again only for the same project. */
const ORDER = ['edge', 'origin', 'pure']

class ByProject extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => ORDER.indexOf(a.project.name) - ORDER.indexOf(b.project.name))
  }
}

const tests = testsByProject(root)
const waiting = {
  isolate: false,
  expect: { poll: { timeout: POLL_WITHIN_MS } },
  testTimeout: TEST_WITHIN_MS,
  hookTimeout: TEST_WITHIN_MS,
}
/** Whole systems first and apart from all others, few at a time. */
const few = { maxWorkers: SYSTEM_WORKERS, sequence: { groupOrder: 0 } }
const many = { maxWorkers: WORKERS, sequence: { groupOrder: 1 } }
const onServers = {
  ...waiting,
  globalSetup: [path('run/one-run.ts')],
  setupFiles: [path('run/leave-with-the-runner.ts')],
}

export default defineConfig({
  root,
  cacheDir: `${root}node_modules/.cache/vite`,
  test: {
    sequence: { sequencer: ByProject },
    reporters: ['default', path('run/plain-line-reporter.ts')],
    projects: [
      {
        root,
        define: await assetsDefinition(),
        test: { name: 'pure', include: tests.pure, pool: 'threads', ...waiting, ...many },
      },
      { root, test: { name: 'origin', include: tests.origin, ...onServers, ...many } },
      edge,
      { root, test: { name: 'system', include: tests.system, ...onServers, ...few } },
      {
        root,
        // Some of these take many minutes.
        test: { name: 'long', include: tests.long, ...onServers, ...few, testTimeout: 1_800_000 * PATIENCE },
      },
    ],
  },
})
