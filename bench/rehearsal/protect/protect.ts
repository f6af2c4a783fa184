/**
 * The command `npm run rehearse -- --protect` puts the waiting room before a site and a crowd before the waiting room.
 * It judges the site's own record: how many came in a second, how many were there at most, and what happened while the
 * site was slow.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { paint } from '../../../dev/lib/command.ts'
import { startSystem } from '../../../dev/system.ts'
import { n } from '../../lib/figures.ts'
import { admin } from '../../lib/operator.ts'
import { playClients } from './clients.ts'
import { Site } from './site.ts'

const SALE = 'before-a-site'
const SPREAD_MS = 5_000
const SLOW_MS = 2_000
/** A visitor stays this long, and later longer than the room allows at this rate. */
const [STAY_SECONDS, LONG_STAY_SECONDS] = [15, 60]
/** The rate of those let in may differ from the wanted one by a tenth. */
const NEAR = 0.1

interface Options {
  readonly clients: number
  readonly rate: number
}

/** Returns the exit status: 0 if all holds. `failed` is called when a part of the system ends by itself. */
export async function rehearseProtected({ clients, rate }: Options, failed: (how: string) => void): Promise<number> {
  const maxInside = Math.round(rate * STAY_SECONDS * 2)
  const site = await Site.start()
  const sites = [{ paths: '/checkout/* /checkout', upstream: site.url, sale: SALE, session_seconds: 600 }]
  const system = await startSystem({ edgeVars: { PROTECT: JSON.stringify(sites) }, originEnv: { LOG_LEVEL: 'error' } })
  void system.failed.then(failed)
  const over = new AbortController()
  let staySeconds = STAY_SECONDS
  let played: Promise<void> | undefined
  try {
    const opens_at = new Date().toISOString()
    const admission = { rate_per_second: rate, max_inside: maxInside }
    await admin(system, 'PUT', `/sales/${SALE}`, { name: 'Before a site', opens_at, admission })
    console.log(`${n(clients)} clients, ${rate} a second, at most ${n(maxInside)} on the site`)
    const stayMs = () => staySeconds * 1000 * (0.8 + 0.4 * Math.random())
    const crowd = { edgeUrl: system.edgeUrl, sale: SALE, clients, spreadMs: SPREAD_MS, stayMs }
    played = playClients(crowd, over.signal)

    const checks: (readonly [what: string, value: number, holds: boolean])[] = []
    const check = (what: string, value: number, holds: boolean) => {
      checks.push([what, value, holds])
      console.log(`  ${holds ? paint('green', '✔') : paint('red', '✘')} ${what.padEnd(58)} ${value.toFixed(1)}`)
    }
    const isNear = (came: number) => Math.abs(came - rate) <= NEAR * rate
    const cameIn = async (seconds: number) => {
      const fromMs = site.nowMs
      await sleep(seconds * 1000)
      return site.cameASecond(fromMs, site.nowMs)
    }
    await sleep(20_000)
    const first = await cameIn(20)
    check('let in a second, from 20 s on', first, isNear(first))
    await sleep(60_000)
    const later = await cameIn(20)
    check('let in a second, two minutes after the start', later, isNear(later))
    // At this rate twice as many would be there as may.
    staySeconds = LONG_STAY_SECONDS
    await sleep(75_000)
    check(`on the site at most, of ${n(maxInside)}`, site.mostInside, site.mostInside <= maxInside)
    site.answerMs = SLOW_MS
    await sleep(10_000)
    const slow = await cameIn(10)
    check('let in a second, 10 s after the site has become slow', slow, slow <= rate / 2)
    const isGood = checks.every(([, , holds]) => holds)
    console.log(isGood ? paint('green', '\nGood.') : paint('red', '\nNot good.'))
    return isGood ? 0 : 1
  } finally {
    over.abort()
    await played?.catch(() => {})
    await system.stop()
    await site.stop()
  }
}
