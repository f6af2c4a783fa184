/**
 * Rehearsals of half a minute in which stores and processes are killed at random, each with its own seed, and some in
 * which the network between all parts fails. `npm run torture` runs a longer one.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { rehearse } from '../../bench/rehearsal/testing/rehearse.ts'
import { seedOf } from '../lib/seed.ts'

const FIRST = seedOf()
/** If a seed is given, only that one is played. */
const SEEDS = Array.from({ length: process.env.TEST_SEED ? 1 : 10 }, (_, i) => (FIRST + Math.imul(i, 0x9e3779b1)) >>> 0)

const out = mkdtempSync(join(tmpdir(), 'flash-sale-faults-'))
afterAll(() => rmSync(out, { recursive: true, force: true }))

const play = async (faults: string, seed: number) => {
  const args = `--faults ${faults} --minutes 0.5 --visitors 600 --seed ${seed}`
  const { status, output, result } = await rehearse(join(out, `${faults}-${seed}`), args)
  expect(status, output).toBe(0)
  const { checks, ends } = result()
  expect(checks.filter((check) => check.holds === false)).toEqual([])
  expect(ends.bought).toBeGreaterThan(10)
}

test.for(SEEDS)(
  'no promise breaks while stores and processes are killed during a sale, by seed %i (TEST_SEED plays it again)',
  (seed) => play('redis,postgres,api,worker', seed),
)

test.for(SEEDS.slice(0, 3))(
  'no promise breaks while the network between all parts fails, by seed %i (TEST_SEED plays it again)',
  (seed) => play('network', seed),
)
