/**
 * Every test of the repository. run/tiers.ts sorts the files into projects by what they import.
 *
 *     npm test -- --project origin
 */
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { assetsDefinition } from '../dev/lib/build.ts'
import { PATIENCE } from './run/patience.ts'
import { few, first, inNode, many } from './run/project-options.ts'
import { startsPrograms, testsByProject } from './run/tiers.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))
const edge = path('../edge/vitest.config.ts')

// Tests start about two hundred processes, and each loads its modules faster from the cache.
process.env.NODE_COMPILE_CACHE ??= `${root}node_modules/.cache/compiled`

/** A worker is reused only for the same project. */
const ORDER = ['check', 'edge', 'system', 'origin', 'pure']

/** The longest files of a project start first, so that no worker is alone with one at the end. */
class ByProject extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rankOf = ({ project, moduleId }: TestSpecification) =>
      2 * ORDER.indexOf(project.name) + (startsPrograms(moduleId) ? 0 : 1)
    const ranks = new Map(sorted.map((file) => [file, rankOf(file)]))
    return sorted.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0))
  }
}

const tests = testsByProject(root)
const onServers = {
  ...inNode,
  globalSetup: [path('run/one-run.ts')],
  setupFiles: [path('run/leave-with-the-runner.ts'), path('run/programs-first.ts')],
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
        test: {
          name: 'pure',
          include: tests.pure,
          pool: 'threads',
          setupFiles: [path('run/assets.ts')],
          provide: await assetsDefinition(),
          ...inNode,
          ...many,
        },
      },
      { root, test: { name: 'origin', include: tests.origin, ...onServers, ...many } },
      {
        root,
        test: {
          name: 'check',
          include: tests.check,
          setupFiles: [path('run/leave-with-the-runner.ts')],
          ...inNode,
          ...first,
        },
      },
      edge,
      { root, test: { name: 'system', include: tests.system, ...onServers, ...few } },
      {
        root,
        // A few of these tests take many minutes.
        test: { name: 'long', include: tests.long, ...onServers, ...few, testTimeout: 1_800_000 * PATIENCE },
      },
    ],
  },
})
