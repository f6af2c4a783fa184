/** Runs all attacks on a small sale that requires accounts; attackers.long.test.ts runs them at full size. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startDemoShop } from '../../dev/servers/demo-shop.ts'
import { PRODUCTION_LIMITS } from '../../dev/servers/workerd.ts'
import { type System, startSystem } from '../../dev/system.ts'
import { ledgerDatabase } from '../../test/lib/servers.ts'
import { ATTACKS } from '../attacks/attacks.ts'
import { readOptions } from './options.ts'
import { Rehearsal } from './play.ts'

const BOTS = 12
const CROWD = [
  '--visitors 24 --stock 40 --rate 80 --spread 1 --seed 7 --hold 4 --unpaid 1 --claim 20 --think 0.1',
  `--timeouts 0 --abandon 0 --declines 0 --banks 0 --identities accounts --limits --bots ${ATTACKS} ` +
    `--bot-count ${BOTS}`,
].join(' ')

const shop = await startDemoShop()
let to: System
beforeAll(async () => {
  vi.spyOn(console, 'log').mockImplementation(() => {})
  const { url: databaseUrl } = await ledgerDatabase()
  to = await startSystem({
    databaseUrl,
    originEnv: { LOG_LEVEL: 'warn' },
    edgeVars: { ...PRODUCTION_LIMITS, ...shop.vars, CLAIM_SECONDS: '20' },
  })
})
afterAll(async () => {
  vi.restoreAllMocks()
  await to?.stop()
  shop.stop()
})

test('where an account is required, an attack gets one place and unit per account, and harms no one', async () => {
  const { attacks, checks, honest } = await new Rehearsal(readOptions(CROWD.split(' ')), { to, shop }).play(() => {})
  expect(attacks.map(({ attack, bots }) => [attack, bots])).toEqual(ATTACKS.map((attack) => [attack, BOTS]))
  for (const { attack, places, visitors, bought, held } of attacks) {
    expect(places, attack).toBeGreaterThan(0)
    expect(visitors, attack).toBe(1)
    // One account has one unit, on any number of devices.
    expect(bought + held, attack).toBeLessThanOrEqual(1)
  }
  const held = new Set(checks.flatMap(({ what, holds }) => (holds ? what : [])))
  for (const what of ['an account is one visitor', 'no visitor over the limit', 'no ticket number issued twice'])
    expect(held).toContain(what)
  expect(honest.refusedByLimit).toBe(0)
})
