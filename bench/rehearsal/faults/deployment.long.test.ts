/**
 * The code of the release before this one, and this code, beside each other: a sale in which each is deployed in
 * turn, and the other's tests of the ledger on the schema and the functions of this code.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, expect, test } from 'vitest'
import { ROOT } from '../../../dev/lib/build.ts'
import { codeOf, previousCommit } from '../../../dev/release/commit.ts'
import { seedOf } from '../../../test/lib/seed.ts'
import { rehearse } from '../testing/rehearse.ts'

const SEED = seedOf()
const out = mkdtempSync(join(tmpdir(), 'flash-sale-deployment-'))
afterAll(() => rmSync(out, { recursive: true, force: true }))

test(`no promise breaks while another version is deployed and taken back, by seed ${SEED}`, async () => {
  const { status, output, result } = await rehearse(out, `--faults deploy --minutes 2.5 --visitors 600 --seed ${SEED}`)
  expect(status, output).toBe(0)
  const played = result().checks.find(({ what }) => what === 'every fault was played under load')
  for (const step of ['ledger', 'worker', 'edge', 'old process', 'edge back', 'second api back'])
    expect(played?.detail).toContain(`${step} 1`)
})

test('the tests of the ledger of the release before pass on this schema and these functions', async () => {
  const old = await codeOf(previousCommit())
  for (const part of ['migrations', 'functions'])
    cpSync(join(ROOT, 'origin/ledger', part), join(old, 'origin/ledger', part), { recursive: true })
  // The older schema files do not describe what this release adds.
  const others = '^(?!.*that the schema files describe)'
  const run = ['run', '--config', 'test/vitest.config.ts', '--project', 'origin', 'origin/ledger', '-t', others]
  const options = { cwd: old, preferLocal: true, reject: false, all: true } as const
  const { exitCode, all } = await execa('vitest', run, options)
  expect(exitCode, all).toBe(0)
  expect(all).toMatch(/^[1-9]\d* passed, 0 failed/m)
})
