/** A run of tests that is interrupted leaves nothing behind. */
import { copyFileSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { readPidFile, temporaryFolder } from '../../dev/lib/leftovers.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const RUN = ['run', '--config', 'test/vitest.config.ts', '--project', 'origin', 'origin/ledger/record.test.ts']

test('Ctrl-C, which npm passes on a second time, ends the servers of a run', async () => {
  const folder = temporaryFolder('interrupted')
  try {
    const env = { ...process.env, TMPDIR: folder.path }
    const run = execa('node_modules/.bin/vitest', RUN, { cwd: ROOT, env, extendEnv: false, reject: false, all: true })
    const pidFile = () => globSync('flash-sale-postgres-*/postgres.pid', { cwd: folder.path })[0] ?? ''
    const started = () => join(folder.path, pidFile())
    await expect.poll(() => (run.exitCode === null ? readPidFile(started())?.runs : run.all)).toBe(true)
    // A server's pid file is removed when the server is stopped.
    const server = join(folder.path, 'server.pid')
    copyFileSync(started(), server)
    run.kill('SIGINT')
    // Two signals that are pending at once would count as one.
    await sleep(1)
    run.kill('SIGINT')
    await run
    await expect.poll(() => readPidFile(server)?.runs).toBe(false)
    expect(globSync('flash-sale-*', { cwd: folder.path })).toEqual([])
  } finally {
    folder.remove()
  }
})
