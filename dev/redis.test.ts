/** Installing Redis with a stand-in for apt-get that takes its time or fails: nothing stays behind. */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { eventually } from '../test/origin-process.ts'
import { temporaryFolder } from './processes.ts'
import { installWithApt } from './redis.ts'

const folder = temporaryFolder('install-test')
const policy = join(folder.path, 'policy-rc.d')
const pidFile = join(folder.path, 'pid')
afterAll(() => folder.remove())

/** Stops on Ctrl-C as `npm start` does, and at once on SIGTERM, as that does on a second Ctrl-C. */
const INSTALLER = `
  import { killEverything, stopEverything } from '${new URL('./processes.ts', import.meta.url)}'
  import { installWithApt } from '${new URL('./redis.ts', import.meta.url)}'
  process.on('SIGINT', () => void stopEverything().then(() => process.exit()))
  process.on('SIGTERM', () => { killEverything(); process.exit() })
  await installWithApt(...process.argv.slice(1)).catch(() => {})`

/** Starts an installation that never ends by itself; returns it and the pid of its apt-get. */
async function startInstaller() {
  rmSync(pidFile, { force: true })
  const aptGet = program(`echo $$ > ${pidFile}; exec sleep 60`)
  const args = ['--input-type=module', '-e', INSTALLER, aptGet, policy]
  // The temporary folders of a killed installer are this test's own.
  const env = { ...process.env, TMPDIR: folder.path }
  const installer = spawn(process.execPath, args, { stdio: 'inherit', env })
  const pid = Number(await eventually(async () => read(pidFile), Boolean))
  expect(existsSync(policy)).toBe(true)
  return { installer, pid }
}

test.each(['SIGINT', 'SIGTERM'] as const)(
  'on %s during the installation, neither apt-get nor its policy file stays',
  async (signal) => {
    const { installer, pid } = await startInstaller()
    installer.kill(signal)
    const left = async () => [existsSync(policy) && policy, isRunning(pid) && pid].filter(Boolean)
    expect(await eventually(left, (files) => files.length === 0)).toEqual([])
  },
)

test('after SIGKILL during the installation, the policy file forbids nothing, and the next start stops apt-get', async () => {
  const first = await startInstaller()
  first.installer.kill('SIGKILL')
  await eventually(
    async () => isRunning(first.installer.pid ?? 0),
    (runs) => !runs,
  )
  expect(execFileSync(policy).length).toBe(0)
  const next = await startInstaller()
  expect(
    await eventually(
      async () => isRunning(first.pid),
      (runs) => !runs,
    ),
  ).toBe(false)
  next.installer.kill('SIGTERM')
  expect(
    await eventually(
      async () => existsSync(policy),
      (exists) => !exists,
    ),
  ).toBe(false)
})

test('quotes an apt-get that fails, and removes its policy file', async () => {
  const aptGet = program('echo Reading; echo "E: Unable to locate package" >&2; exit 100')
  await expect(installWithApt(aptGet, policy)).rejects.toThrow('E: Unable to locate package')
  expect(existsSync(policy)).toBe(false)
})

test('leaves the policy file of somebody else as it is', async () => {
  writeFileSync(policy, 'of somebody else')
  await installWithApt(program('exit 0'), policy)
  expect(read(policy)).toBe('of somebody else')
})

function program(script: string): string {
  const file = join(folder.path, 'apt-get')
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
  return file
}

const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').trim() : '')

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
