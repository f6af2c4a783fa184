/**
 * The command `npm run rehearse -- --capacity` finds the highest number of arrivals per second. Each step is a
 * separate sale, to which visitors come evenly from just before its opening, and all of them are called and may buy.
 * The steps double until one is too slow, and then approach the limit.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { paint, terminal } from '../../../dev/lib/command.ts'
import { visitorKey } from '../../../edge/http/visitor-secret.ts'
import { seededRandom } from '../../../shared/lib/random.ts'
import { Crowd } from '../../crowd/crowd.ts'
import { visit } from '../../crowd/visit.ts'
import { arrivalTimes } from '../../crowd/visitors/arrivals.ts'
import { UNKNOWN } from '../../crowd/visitors/identities.ts'
import { type Step as VisitStep, visitorsOf } from '../../crowd/visitors/visitors.ts'
import { duration, n } from '../../lib/figures.ts'
import { type LifeStage, onStage } from '../../measure/parts/life.ts'
import { PROGRAMS, type Program } from '../../measure/programs.ts'
import { createSale, endSale } from '../../measure/stage.ts'
import { CLAIM_SECONDS, type Options } from '../options.ts'
import { Live } from '../progress.ts'
import { capacityText, highest, type Measured, nextArrivals, type Range, type Use } from './capacity-search.ts'

/** The time between the sale's creation and its first visitor. */
const LEAD_MS = 2_000
/** Visitors come this long before they are called, so that each has a turn to claim. */
const AHEAD_MS = 1_000
/** The maximum time to wait for the visitors who have come, unless the target is longer. */
const DRAIN_MS = 5_000
/**
 * A step starts when the processor use has fallen to this, so that the work of the step before does not slow it down.
 */
const CALM_CORES = 0.25
const CALM_TRIES = 10
/** No step starts later; each takes a minute at most. */
const STEPS_WITHIN_MS = 210_000
/** The share of visitors that may stay unserved; the 99th percentile counts only those who were served. */
const UNSERVED_SHARE = 0.01

const ASKED = { joins: 'join', turns: 'admission', checkouts: 'checkout' } as const
const UNSERVED: readonly VisitStep[] = ['arrive', 'join', 'claim', 'checkout']

/**
 * Returns the exit status: 1 if even the lowest rate was too high. `failed` is called when a part of the system ends
 * by itself.
 */
export async function findCapacity(options: Options, range: Range, failed: (how: string) => void): Promise<number> {
  console.log('Starting a system ...')
  return onStage('all', async (stage) => {
    void stage.system.failed.then(failed)
    const steps: Measured[] = []
    const untilMs = performance.now() + STEPS_WITHIN_MS
    while (performance.now() < untilMs) {
      const arrivals = nextArrivals(steps, range)
      if (arrivals === null) break
      const step = await measureStep(stage, options, range, arrivals)
      console.log(stepText(step))
      steps.push(step)
    }
    const cores = availableParallelism()
    writeFileSync(join(options.out, 'capacity.json'), `${JSON.stringify({ cores, ...range, steps })}\n`)
    console.log(`\n${capacityText(steps, range, cores)}`)
    return highest(steps) > 0 ? 0 : 1
  })
}

async function measureStep(stage: LifeStage, options: Options, range: Range, arrivals: number): Promise<Measured> {
  const { system } = stage
  const arriveMs = range.stepSeconds * 1000
  await calm(stage)
  const beginsAtMs = performance.now() + LEAD_MS
  const sale = await createSale(stage, { rate: arrivals, opensInMs: LEAD_MS + AHEAD_MS })
  const random = seededRandom(options.seed)
  const count = Math.ceil(arrivals * range.stepSeconds)
  const times = arrivalTimes('ramp', count, arriveMs, random).map((ms) => beginsAtMs + ms)
  const crowd = new Crowd(
    visitorsOf(times, options.shares, random),
    {
      edge: system.edgeUrl,
      worker: system.edge.url,
      sale,
      thinkMs: options.thinkSeconds * 1000,
      hangUps: 0,
      claimSeconds: CLAIM_SECONDS,
      random,
      identityOf: () => UNKNOWN,
      prover: null,
      visitorKey: visitorKey(system.secrets.queueKeys),
      onBought: () => {},
    },
    visit,
  )
  console.log(`\n${n(arrivals)} a second, for ${duration(arriveMs)}`)
  await crowd.schedule.read()
  const live = new Live(crowd, beginsAtMs + AHEAD_MS)
  await sleep(beginsAtMs - performance.now())
  live.start()
  const played = crowd.play()
  const use = await usedBy(stage, () => sleep(arriveMs))
  await Promise.race([played, sleep(AHEAD_MS + Math.max(DRAIN_MS, range.targetMs))])
  const unserved = crowd.tally.ends.failed + crowd.visitors.filter(({ step }) => UNSERVED.includes(step)).length
  crowd.stop()
  live.stop()
  if (terminal) process.stdout.write('\r\x1b[K')
  crowd.close()
  await endSale(stage, sale)
  const p99 = (name: keyof typeof ASKED) => crowd.tally.latency[ASKED[name]].percentile(0.99)
  const p99Ms = { joins: p99('joins'), turns: p99('turns'), checkouts: p99('checkouts') }
  const isQuick = Object.values(p99Ms).every((ms) => ms < range.targetMs)
  return {
    arrivals,
    good: isQuick && unserved <= count * UNSERVED_SHARE,
    p99Ms,
    unserved,
    bought: crowd.tally.ends.bought,
    use,
  }
}

async function usedBy({ measure }: LifeStage, work: () => Promise<unknown>): Promise<Use> {
  const before = process.cpuUsage()
  const { cost, seconds } = await measure(work)
  const { user, system } = process.cpuUsage(before)
  const cores = (micros: number) => Math.round(micros / seconds / 1e4) / 100
  const programs = Object.fromEntries(PROGRAMS.map((program) => [program, cores(cost[program])]))
  return { ...(programs as Record<Program, number>), 'the crowd': cores(user + system) }
}

async function calm(stage: LifeStage): Promise<void> {
  for (let tries = 0; tries < CALM_TRIES; tries++) {
    const { 'the crowd': _, ...programs } = await usedBy(stage, () => sleep(1_000))
    if (Object.values(programs).reduce((sum, cores) => sum + cores, 0) < CALM_CORES) return
  }
}

function stepText({ good, p99Ms, unserved, bought, use }: Measured): string {
  const mark = good ? paint('green', '✔') : paint('red', '✘')
  const slow = Object.entries(p99Ms).map(([what, ms]) => `${what} ${duration(ms)}`)
  const cores = Object.entries(use).map(([user, value]) => `${user} ${value}`)
  const lost = unserved > 0 ? [`${n(unserved)} not served`] : []
  return (
    `  ${mark} p99 of ${slow.join(', ')}; ${[`${n(bought)} bought`, ...lost].join(', ')}\n    cores: ` +
    `${cores.join(', ')}`
  )
}
