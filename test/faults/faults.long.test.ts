/**
 * Rehearsals of half a minute in which stores and processes are killed at random, each by a seed of its own. `npm run torture` runs
 * one for longer.
 */
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { rehearse } from '../../bench/rehearsal/testing/rehearse.ts'

const { TEST_SEED } = process.env
const SEEDS = TEST_SEED ? [Number(TEST_SEED)] : Array.from({ length: 10 }, () => randomInt(1_000_000))

const out = mkdtempSync(join(tmpdir(), 'flash-sale-faults-'))
afterAll(() => rmSync(out, { recursive: true, force: true }))

test.for(SEEDS)('no promise breaks while stores and processes are killed during a sale, by seed %i', async (seed) => {
  console.log(`To play it again: TEST_SEED=${seed} npm run test:long -- test/faults/faults.long.test.ts`)
  const args = `--faults redis,postgres,api,worker --minutes 0.5 --visitors 600 --seed ${seed}`
  const { status, output, result } = await rehearse(join(out, String(seed)), args)
  expect(status, output).toBe(0)
  const { checks, ends } = result()
  expect(checks.filter((check) => check.holds === false)).toEqual([])
  expect(ends.bought).toBeGreaterThan(10)
})
