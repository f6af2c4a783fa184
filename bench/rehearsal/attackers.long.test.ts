/** Runs rehearsals with attackers by command, each with its own system, which takes two minutes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { seedOf } from '../../test/lib/seed.ts'
import { rehearse } from './testing/rehearse.ts'

const VISITORS = 240
const SEED = seedOf(7)
/** All buyers with a unit pay for it, except the squatters, who must leave theirs to others after one hold. */
const ALL_PAY = `--timeouts 0 --abandon 0 --declines 0 --banks 0 --think 0.1 --seed ${SEED}`

const out = mkdtempSync(join(tmpdir(), 'flash-sale-attackers-'))
afterAll(() => rmSync(out, { recursive: true, force: true }))

async function goodRehearsal(crowd: string) {
  const { status, output, result, html } = await rehearse(out, `${crowd} ${ALL_PAY}`)
  expect(status, output).toBe(0)
  expect(result().checks.filter((check) => check.holds === false)).toEqual([])
  expect(html()).not.toMatch(/NaN|undefined|<script/)
  return result()
}

test('where an account is required, five attacks together gain at most one unit in fifty', async () => {
  const { attacks, honest } = await goodRehearsal(
    `--visitors ${VISITORS} --stock 200 --rate 80 --spread 4 --hold 8 --unpaid 1 --identities accounts --limits
    --bots squat,stuff,hammer,share,drip --max-minutes 2.5`.replace(/\s+/g, ' '),
  )
  expect(attacks.map(({ bots }) => bots)).toEqual([1, 2, 3, 4, 5].map(() => VISITORS / 3))
  for (const { attack, visitors, bought, held } of attacks) {
    expect(visitors, attack).toBe(1)
    expect(bought + held, attack).toBeLessThanOrEqual(1)
  }
  expect(honest).toMatchObject({ lost: 0, refusedByLimit: 0 })
})

test('squatters who ask much more often get no unit again that somebody without unpaid orders wants', async () => {
  // There are more bots than units, from the opening on. They hold the units that they get and send several requests
  // a second.
  const { attacks, ends } = await goodRehearsal(
    `--visitors 60 --stock 20 --rate 200 --arrivals late --spread 3 --hold 5 --unpaid 10 --refunds 0
    --bots squat --bot-count 30 --max-minutes 3`.replace(/\s+/g, ' '),
  )
  expect(attacks).toMatchObject([{ attack: 'squat', bots: 30, bought: 0 }])
  expect(ends).toMatchObject({ bought: 20, sold_out: 40 })
})
