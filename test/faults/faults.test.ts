/** A rehearsal with faults, short and with one seed; `npm run torture` runs it for longer. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { rehearse } from '../../bench/rehearsal/testing/rehearse.ts'

const out = mkdtempSync(join(tmpdir(), 'flash-sale-faults-'))
afterAll(() => rmSync(out, { recursive: true, force: true }))

test('no promise breaks while stores and processes are killed during the sale', async () => {
  const args = '--faults redis,postgres,api,worker --minutes 0.25 --visitors 300 --seed 1'
  const { status, output, result } = await rehearse(out, args)
  expect(status, output).toBe(0)
  const { checks, ends } = result()
  expect(checks.filter((check) => check.holds === false)).toEqual([])
  expect(ends.bought).toBeGreaterThan(10)
})
