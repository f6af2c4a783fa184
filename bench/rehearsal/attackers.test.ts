/** Rehearsals with attackers: small, each with its own system. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { rehearse } from './testing/rehearse.ts'

const VISITORS = 240
const CROWD = [
  // All who get a unit pay for it but the squatters, who must let others have theirs after one hold.
  `--visitors ${VISITORS} --stock 200 --rate 80 --spread 4 --seed 7 --hold 8 --unpaid 1 --think 0.1`,
  '--timeouts 0 --abandon 0 --declines 0 --banks 0',
  '--identities accounts --limits --bots squat,stuff,hammer,share --max-minutes 2.5',
].join(' ')

const out = mkdtempSync(join(tmpdir(), 'flash-sale-attackers-'))
afterAll(() => rmSync(out, { recursive: true, force: true }))

test('where an account is required, four attacks together gain a unit for each of their accounts at most', async () => {
  const { status, output, result, html } = await rehearse(out, CROWD)
  expect(status, output).toBe(0)
  const { checks, attacks, honest } = result()
  expect(checks.filter((check) => check.holds === false)).toEqual([])
  expect(attacks.map(({ attack, bots }) => [attack, bots])).toEqual(
    ['squat', 'stuff', 'hammer', 'share'].map((attack) => [attack, VISITORS / 3]),
  )
  for (const { attack, places, visitors, bought, held } of attacks) {
    expect(places, attack).toBeGreaterThan(0)
    expect(visitors, attack).toBe(1)
    // One account has one unit, on however many devices.
    expect(bought + held, attack).toBeLessThanOrEqual(1)
  }
  expect(honest).toMatchObject({ lost: 0, refusedByLimit: 0 })
  expect(html()).not.toMatch(/NaN|undefined|<script/)
}, 180_000)

/** More bots than units, there since the opening, who hold what they get and ask several times a second. */
const SQUATTED = [
  '--visitors 60 --stock 20 --rate 200 --arrivals late --spread 3 --seed 7 --hold 5 --unpaid 10 --think 0.1',
  '--timeouts 0 --abandon 0 --declines 0 --banks 0 --refunds 0',
  '--bots squat --bot-count 30 --max-minutes 3',
].join(' ')

test('squatters who ask much more often get no unit again that somebody without unpaid orders wants', async () => {
  const { status, output, result } = await rehearse(out, SQUATTED)
  expect(status, output).toBe(0)
  const { checks, attacks, ends } = result()
  expect(checks.filter((check) => check.holds === false)).toEqual([])
  expect(attacks).toMatchObject([{ attack: 'squat', bots: 30, bought: 0 }])
  expect(ends).toMatchObject({ bought: 20, sold_out: 40 })
}, 240_000)
