/**
 * Plays a crowd against the stand-in instead of a system. What its visitors wait for then is the crowd's own, and that
 * of the cache before the stand-in, if there is one.
 */

import { startCdn } from '../../../dev/servers/cdn.ts'
import { seededRandom } from '../../../shared/lib/random.ts'
import { Crowd } from '../../crowd/crowd.ts'
import { visit } from '../../crowd/visit.ts'
import { arrivalTimes, leadMs } from '../../crowd/visitors/arrivals.ts'
import { UNKNOWN } from '../../crowd/visitors/identities.ts'
import { visitorsOf } from '../../crowd/visitors/visitors.ts'
import { n } from '../../lib/figures.ts'
import { startScript } from '../../measure/stage.ts'
import type { Options } from '../options.ts'
import { latenciesOf } from '../play.ts'
import { ProgramsUsed } from '../programs-used.ts'
import { Live } from '../progress.ts'
import type { Terms } from './server.ts'

/** The time between the sale's beginning and the first visitor. */
const LEAD_MS = 2_000
/** The stand-in has one sale, under any name. */
const SALE = 'rehearsal-stand-in'

/** `failed` is called when the stand-in or the cache ends by itself. */
export async function playStandIn(options: Options, failed: (how: string) => void) {
  console.log('Starting a stand-in ...')
  const server = await startScript('the stand-in', '../rehearsal/stand-in/server.ts', '/')
  const cdn = options.cdn ? await startCdn({ edgeUrl: server.url }) : undefined
  for (const part of [server, cdn]) void part?.failed.then((how) => failed(`A part ended unexpectedly (${how})`))
  const opensInMs = LEAD_MS + leadMs(options.arrivals, options.spreadSeconds * 1000)
  const opensAtMs = performance.now() + opensInMs
  const { rate, stock, holdSeconds } = options
  const terms: Terms = { opensAtMs: Date.now() + opensInMs, rate, stock, holdMs: holdSeconds * 1000 }
  await fetch(server.url, { method: 'PUT', body: JSON.stringify(terms) })

  const random = seededRandom(options.seed)
  const times = arrivalTimes(options.arrivals, options.visitors, options.spreadSeconds * 1000, random)
  const programs = { ...(cdn && { CDN: [cdn.pid] }), 'stand-in': [server.pid] }
  const used = new ProgramsUsed(programs, stock, opensInMs)
  const crowd = new Crowd(
    visitorsOf(
      times.map((ms) => opensAtMs + ms),
      options.shares,
      random,
    ),
    {
      edge: cdn?.url ?? server.url,
      worker: server.url,
      sale: SALE,
      thinkMs: options.thinkSeconds * 1000,
      hangUps: 0,
      claimSeconds: options.claimSeconds,
      random,
      identityOf: () => UNKNOWN,
      prover: null,
      visitorKey: null,
      onBought: (_, units) => used.bought(units),
    },
    visit,
  )
  await crowd.schedule.read()
  console.log(
    `${n(options.visitors)} visitors (${options.arrivals}), ${n(stock)} units, ${n(rate)}/s; ` +
      `a stand-in, seed ${options.seed}`,
  )
  const live = new Live(crowd, opensAtMs)
  const end = setTimeout(() => crowd.stop(), options.maxMinutes * 60_000)
  live.start()
  await crowd.play()
  const use = used.stop()
  clearTimeout(end)
  live.stop()
  crowd.close()
  await cdn?.stop()
  await server.stop()
  const { ends } = crowd.tally
  const { adminToken: _, ...shown } = options
  return { options: shown, ends, latencies: latenciesOf(crowd), programs: use }
}
