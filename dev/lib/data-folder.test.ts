/** One system at a time uses a data folder, and the next start cleans up after a killed one. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { takeFolder } from './data-folder.ts'
import { writePidFile } from './leftovers.ts'

const root = mkdtempSync(join(tmpdir(), 'flash-sale-folders-'))
afterAll(() => rmSync(root, { recursive: true }))
const folder = () => mkdtempSync(join(root, 'data-'))

test('one of several starts at the same moment takes the folder, and the next after its release', async () => {
  const path = folder()
  const attempts = await Promise.allSettled(Array.from({ length: 10 }, () => takeFolder(path)))
  const taken = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []))
  expect(taken).toHaveLength(1)
  await expect(takeFolder(path)).rejects.toThrow(`Process ${process.pid} is already running a system on ${path}`)
  await taken[0]?.release()
  await (await takeFolder(path)).release()
})

test('a start stops what a killed one left running, and no other process', async () => {
  const path = folder()
  const [left, other] = [spawn('sleep', ['60']), spawn('sleep', ['60'])]
  writePidFile(join(path, 'server.pid'), left.pid ?? 0)
  // The pid belonged to an earlier process.
  const stale = { pid: other.pid, startedAt: '1' }
  writeFileSync(join(path, 'stale.pid'), JSON.stringify(stale))
  const ended = new Promise((resolve) => left.once('exit', (_, signal) => resolve(signal)))
  const { release } = await takeFolder(path)
  expect(await ended).toBe('SIGINT')
  expect(other.kill(0)).toBe(true)
  other.kill()
  expect(['server.pid', 'stale.pid'].filter((file) => existsSync(join(path, file)))).toEqual([])
  await release()
})
