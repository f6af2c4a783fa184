/**
 * Every test of the repository, in four projects: `shared` (pure), `origin` (Node, real Postgres and Redis), `edge`
 * (inside workerd) and `system` (what crosses the halves: each file runs whole systems).
 *
 *     npx vitest run --config test/vitest.config.ts --project origin
 */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const root = fileURLToPath(new URL('..', import.meta.url))
const edge = fileURLToPath(new URL('../edge/vitest.config.ts', import.meta.url))
const leaveWithTheRunner = fileURLToPath(new URL('./run/leave-with-the-runner.ts', import.meta.url))
const oneRun = fileURLToPath(new URL('./run/one-run.ts', import.meta.url))

/** The files that run whole systems. */
const SYSTEMS = ['test/**/*.test.ts', 'dev/system.test.ts', 'bench/rehearsal/{rehearse,attackers}.test.ts']
/** One for each processor: whole systems of several processes keep it busy, and more would let each test take longer for nothing. */
const WORKERS = availableParallelism()
// Tests start some two hundred processes: each loads its modules faster from the cache.
process.env.NODE_COMPILE_CACHE ??= `${root}node_modules/.cache/compiled`

/**
 * All projects share one pool. Whole systems take longest: they begin first, so that none of them runs on alone at the end.
 * Files of a project share workers (`isolate: false`), which load its modules once.
 */
const ORDER = ['system', 'edge', 'origin', 'shared']

/** Project by project, since a worker is used again only if the next file is of the same project. */
class ByProject extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => ORDER.indexOf(a.project.name) - ORDER.indexOf(b.project.name))
  }
}

export default defineConfig({
  root,
  cacheDir: `${root}node_modules/.cache/vite`,
  test: {
    maxWorkers: WORKERS,
    sequence: { sequencer: ByProject },
    reporters: ['default', fileURLToPath(new URL('./run/plain-line-reporter.ts', import.meta.url))],
    projects: [
      {
        root,
        test: {
          name: 'shared',
          include: ['shared/**/*.test.ts'],
          isolate: false,
          testTimeout: 60_000,
        },
      },
      {
        root,
        test: {
          name: 'origin',
          include: ['origin/**/*.test.ts', 'dev/**/*.test.ts', 'bench/**/*.test.ts'],
          exclude: SYSTEMS,
          globalSetup: [oneRun],
          setupFiles: [leaveWithTheRunner],
          isolate: false,
          expect: { poll: { timeout: 90_000 } },
          // Ends what hangs. A test of a second takes ten and more where others want the processors.
          testTimeout: 900_000,
          hookTimeout: 900_000,
        },
      },
      edge,
      {
        root,
        test: {
          name: 'system',
          include: SYSTEMS,
          globalSetup: [oneRun],
          setupFiles: [leaveWithTheRunner],
          isolate: false,
          expect: { poll: { timeout: 180_000 } },
          testTimeout: 900_000,
          hookTimeout: 900_000,
        },
      },
    ],
  },
})
