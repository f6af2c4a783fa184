/** A rehearsal with attackers as a person runs it, where an account is required: small, with its own system. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import type { Result } from './play.ts'

const REHEARSE = fileURLToPath(new URL('./rehearse.ts', import.meta.url))
const VISITORS = 300
const CROWD = [
  ...`--visitors ${VISITORS} --stock 210 --rate 200 --spread 3 --seed 7 --hold 12 --think 0.1`.split(' '),
  ...'--timeouts 0 --identities accounts --limits --bots squat,stuff,hammer,share --max-minutes 1'.split(' '),
]

const out = mkdtempSync(join(tmpdir(), 'flash-sale-attackers-'))
afterAll(() => rmSync(out, { recursive: true, force: true }))

test('where an account is required, four attacks together gain a unit for each of their accounts at most', async () => {
  const { status, output } = await new Promise<{ status: number | null; output: string }>((resolve) => {
    const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }
    const child = spawn(process.execPath, [REHEARSE, ...CROWD, '--out', out], { env })
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
  expect(result.attacks.map(({ attack, bots }) => [attack, bots])).toEqual(
    ['squat', 'stuff', 'hammer', 'share'].map((attack) => [attack, VISITORS / 3]),
  )
  for (const { attack, places, bought, held } of result.attacks) {
    expect(places, attack).toBeGreaterThan(0)
    // One account has one unit, on however many devices.
    expect(bought + held, attack).toBeLessThanOrEqual(1)
  }
  expect(result.honest).toMatchObject({ lost: 0, refusedByLimit: 0 })
  expect(readFileSync(join(out, 'report.html'), 'utf8')).not.toMatch(/NaN|undefined|<script/)
}, 180_000)
