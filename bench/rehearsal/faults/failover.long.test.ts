/** A managed Redis that swaps its roles under a running sale, and closes no connection: no promise breaks. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { seedOf } from '../../../test/lib/seed.ts'
import { rehearse } from '../testing/rehearse.ts'

const SEED = seedOf()
const out = mkdtempSync(join(tmpdir(), 'flash-sale-failover-'))
afterAll(() => rmSync(out, { recursive: true, force: true }))

test(`the gate is used again after each failover, and no promise breaks, by seed ${SEED}`, async () => {
  const { status, output, result } = await rehearse(
    out,
    `--faults failover --minutes 0.4 --visitors 300 --seed ${SEED}`,
  )
  expect(status, output).toBe(0)
  const detailOf = (check: string) => result().checks.find(({ what }) => what === check)?.detail
  expect(detailOf('every fault was played under load')).toContain('Redis failed over 2 times')
  // How long it took is no promise on a slow machine; that it happened is.
  expect(detailOf('the gate is used again after each failover')).toContain(', 0 without one;')
})
