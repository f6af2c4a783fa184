/** A rehearsal with faults, short and with one seed; `npm run torture` runs it for longer. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import type { Result } from '../bench/rehearsal/play.ts'

const REHEARSE = fileURLToPath(new URL('../bench/rehearsal/rehearse.ts', import.meta.url))
const out = mkdtempSync(join(tmpdir(), 'flash-sale-faults-'))
afterAll(() => rmSync(out, { recursive: true, force: true }))

test('no promise breaks while stores and processes are killed during the sale', async () => {
  const args = ['--faults', 'redis,postgres,api,worker', '--minutes', '0.25', '--seed', '1', '--out', out]
  const { status, output } = await new Promise<{ status: number | null; output: string }>((resolve) => {
    const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }
    const child = spawn(process.execPath, [REHEARSE, ...args], { env })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8')
      })
    child.once('close', (status) => resolve({ status, output }))
  })
  expect(status, output).toBe(0)
  const result = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')) as Result
  expect(result.checks.filter((check) => check.holds === false)).toEqual([])
  expect(result.ends.bought).toBeGreaterThan(10)
}, 150_000)
