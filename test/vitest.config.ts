/**
 * Every test of the repository, in four projects: `shared` (pure), `origin` (Node, real Postgres and Redis), `edge`
 * (inside workerd) and `system` (what crosses the halves, one file at a time, since each runs whole systems).
 *
 *     npx vitest run --config test/vitest.config.ts --project origin
 */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('..', import.meta.url))
const edge = fileURLToPath(new URL('../edge/vitest.config.ts', import.meta.url))
const leaveWithTheRunner = fileURLToPath(new URL('./leave-with-the-runner.ts', import.meta.url))
const onePostgres = fileURLToPath(new URL('./one-postgres.ts', import.meta.url))

export default defineConfig({
  root,
  cacheDir: `${root}node_modules/.cache/vite`,
  test: {
    // Most tests wait, for a timeout or a process: more of them than processors run at once.
    maxWorkers: 3 * availableParallelism(),
    reporters: ['default', fileURLToPath(new URL('./plain-line-reporter.ts', import.meta.url))],
    projects: [
      {
        root,
        test: {
          name: 'shared',
          include: ['shared/**/*.test.ts'],
          testTimeout: 20_000,
        },
      },
      {
        root,
        test: {
          name: 'origin',
          include: ['origin/**/*.test.ts', 'dev/**/*.test.ts', 'bench/**/*.test.ts'],
          globalSetup: [onePostgres],
          setupFiles: [leaveWithTheRunner],
          testTimeout: 20_000,
          hookTimeout: 60_000,
        },
      },
      ...(existsSync(edge) ? [edge] : []),
      {
        root,
        test: {
          name: 'system',
          include: ['test/**/*.test.ts'],
          globalSetup: [onePostgres],
          setupFiles: [leaveWithTheRunner],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // Each runs whole systems: few at once, after the others.
          maxWorkers: Math.max(2, availableParallelism()),
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
