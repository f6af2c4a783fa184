/** Installs a program with a stand-in for apt-get that is slow or fails. Nothing stays behind. */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readPidFile } from '../lib/leftovers.ts'
import { temporaryFolder } from '../lib/processes.ts'
import { installWithApt } from './install.ts'

const folder = temporaryFolder('install-test')
const pidFile = join(folder.path, 'pid')
afterAll(() => folder.remove())

/**
 * The installer stops on Ctrl-C as `npm start` does, and at once on SIGTERM, as `npm start` does on a second Ctrl-C.
 */
const INSTALLER = `
  import { killEverything, stopEverything } from '${new URL('../lib/processes.ts', import.meta.url)}'
  import { installWithApt } from '${new URL('./install.ts', import.meta.url)}'
  process.on('SIGINT', () => void stopEverything().then(() => process.exit()))
  process.on('SIGTERM', () => { killEverything(); process.exit() })
  await installWithApt(process.argv[1], 'a-package').catch(() => {})`

/** Starts an installation that never ends by itself. Returns it and the pid of its apt-get. */
async function startInstaller() {
  rmSync(pidFile, { force: true })
  const args = ['--input-type=module', '-e', INSTALLER, aptGet(`echo $$ > ${pidFile}; exec sleep 60`)]
  // The test has its own temporary root, so that a killed installer's folders are there.
  const env = { ...process.env, TMPDIR: folder.path }
  const installer = spawn(process.execPath, args, { stdio: 'inherit', env })
  await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8')).toMatch(/^\d+\n$/)
  const pid = Number(readFileSync(pidFile, 'utf8'))
  // The installer records the process a moment after its start.
  const noted = () =>
    globSync('*/*.pid', { cwd: folder.path }).some((file) => readPidFile(join(folder.path, file))?.pid === pid)
  await expect.poll(noted).toBe(true)
  return { installer, pid }
}

test.each(['SIGINT', 'SIGTERM'] as const)('%s during the installation ends apt-get', async (signal) => {
  const { installer, pid } = await startInstaller()
  installer.kill(signal)
  await expect.poll(() => isRunning(pid)).toBe(false)
})

test('after SIGKILL during the installation, the next start stops apt-get', async () => {
  const first = await startInstaller()
  first.installer.kill('SIGKILL')
  await new Promise((resolve) => first.installer.once('exit', resolve))
  const next = await startInstaller()
  await expect.poll(() => isRunning(first.pid)).toBe(false)
  next.installer.kill('SIGTERM')
})

test('quotes an apt-get that fails', async () => {
  const failing = aptGet('echo Reading; echo "E: Unable to locate package" >&2; exit 100')
  await expect(installWithApt(failing, 'a-package')).rejects.toThrow('E: Unable to locate package')
})

function aptGet(script: string): string {
  const file = join(folder.path, 'apt-get')
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
  return file
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
