/**
 * The command `npm run test:quick` runs pure tests in plain threads. With `--changed` (since the last commit) or
 * `--changed=COMMIT` it also runs every other test that a change affects.
 */
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const { changed = [], others = [] } = Object.groupBy(process.argv.slice(2), (arg) =>
  arg.startsWith('--changed') ? 'changed' : 'others',
)
const runs = [['--project', 'pure', ...others]]
if (changed.length > 0) runs.push([...changed, '--project', '!pure', '--project', '!long', '--passWithNoTests'])

for (const args of runs) {
  const { exitCode } = await execa('vitest', ['run', '--config', 'test/vitest.config.ts', ...args], {
    cwd: ROOT,
    preferLocal: true,
    stdio: 'inherit',
    reject: false,
  })
  if (exitCode !== 0) process.exit(exitCode ?? 1)
}
