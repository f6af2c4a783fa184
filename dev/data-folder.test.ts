/** The data folder is used by one system at a time. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { loadSecrets, takeFolder } from './data-folder.ts'

const root = mkdtempSync(join(tmpdir(), 'flash-sale-folders-'))
afterAll(() => rmSync(root, { recursive: true }))

test('of two that start at the same moment, one takes it', async () => {
  const folders = Array.from({ length: 200 }, (_, i) => join(root, `wanted-${i}`))
  // Folder by folder at the same time as the other; alive until both are through, as a lock is worth no more than its owner.
  const program = `
    import { takeFolder } from ${JSON.stringify(new URL('./data-folder.ts', import.meta.url).href)}
    process.stdin.once('data', (beginMs) => {
      const taken = ${JSON.stringify(folders)}.flatMap((folder, i) => {
        while (Date.now() < Number(beginMs) + i * 5);
        try { takeFolder(folder); return [i] } catch { return [] }
      })
      console.log(JSON.stringify(taken))
    })
    console.log('up')`
  const two = [1, 2].map(() => spawn(process.execPath, ['--input-type=module', '-e', program]))
  await Promise.all(two.map(({ stdout }) => once(stdout, 'data')))
  const beginMs = Date.now() + 20
  for (const { stdin } of two) stdin.write(String(beginMs))
  const told = await Promise.all(two.map(({ stdout }) => once(stdout, 'data')))
  for (const { stdin } of two) stdin.end()
  const taken = told.flatMap(([line]) => JSON.parse(line) as number[])
  expect(taken.sort((a, b) => a - b)).toEqual(folders.map((_, i) => i))
})

test.each([
  ['whose process has ended', (lock: string) => symlinkSync('999999999 1', lock)],
  ['of an earlier version', (lock: string) => writeFileSync(lock, '999999999 1\n')],
])('a lock %s is worth nothing', (_, leave) => {
  const folder = mkdtempSync(join(root, 'left-'))
  leave(join(folder, 'lock'))
  takeFolder(folder).release()
  const { release } = takeFolder(folder)
  expect(() => takeFolder(folder)).toThrow(`Process ${process.pid} is already running a system on ${folder}`)
  release()
})

test('a folder of the version before opens, with the keys that it lacks and the places it signed', () => {
  const folder = mkdtempSync(join(root, 'before-'))
  const before = { adminToken: 'a', edgeToken: 'e', orderTokenSecret: 'o', webhookSecret: 'w' }
  const queueSecret = 'of thirty-two bytes or more, as it was'
  writeFileSync(
    join(folder, 'secrets.json'),
    JSON.stringify({ ...before, queueSecret, admissionPrivateJwk: {} }),
  )
  const secrets = loadSecrets(folder, undefined)
  expect(secrets).toMatchObject(before)
  expect(Buffer.from(secrets.queueKeys.keys[0]?.k ?? '', 'base64url').toString()).toBe(queueSecret)
  expect(loadSecrets(folder, undefined)).toEqual(secrets)
})
