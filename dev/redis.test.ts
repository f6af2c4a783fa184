/** Installing Redis with a package manager of our own making, which takes its time or fails: nothing of it stays. */
import { spawn } from 'node:child_process'
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

test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
  'on %s while Redis is being installed, neither apt-get nor its policy file stays',
  async (signal) => {
    rmSync(pidFile, { force: true })
    const aptGet = program(`echo $$ > ${pidFile}; exec sleep 60`)
    const args = ['--input-type=module', '-e', INSTALLER, aptGet, policy]
    const installer = spawn(process.execPath, args, { stdio: 'inherit' })
    const pid = await eventually(async () => read(pidFile), Boolean)
    expect(existsSync(policy)).toBe(true)
    installer.kill(signal)
    const left = async () => [existsSync(policy) && policy, running(Number(pid)) && pid].filter(Boolean)
    expect(await eventually(left, (files) => files.length === 0)).toEqual([])
  },
)

test('an apt-get that fails is quoted, and its policy file goes', async () => {
  const aptGet = program('echo Reading; echo "E: Unable to locate package" >&2; exit 100')
  await expect(installWithApt(aptGet, policy)).rejects.toThrow('E: Unable to locate package')
  expect(existsSync(policy)).toBe(false)
})

test('a policy file that was there before stays as it is', async () => {
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

function running(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
