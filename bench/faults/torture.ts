/**
 * The fault test: a sale under load while Redis, Postgres, the api and the worker are killed in turn, and afterwards a
 * look at whether anything promised was lost, anything sold twice, or anything left lying about.
 *
 *     npm run torture -- --minutes 10 --seed 7
 *
 * The seed decides who does what, and when what is killed; the machine's timing it cannot decide, so that a failure may
 * take several runs of its seed to come again. Ends with status 1, and the seed, when anything was violated.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { numberOf, optionsOf, run, UsageError, wholeOf, writableFolder } from '../../dev/command.ts'
import { seeded } from '../lib/random.ts'
import { LIMIT_PER_VISITOR, Notebook, play } from './buyers.ts'
import { Inspector } from './checks.ts'
import { PARTS, type PartName, startTortureSystem, type TortureSystem } from './system.ts'

const HOLD_SECONDS = 4
/** Few enough that a sale runs short of them, many enough that it lasts: units per second of faults. */
const STOCK_PER_SECOND = { one: 6, two: 3 }
const CALM_MS = { least: 500, most: 2_500 }
const DOWN_MS = { least: 500, most: 3_000 }
/** Redis comes back without its data this often. */
const WIPE = 0.3
const LOOK_EVERY_MS = 300
const SETTLE_LOOK_EVERY_MS = 1_000
/** In one round; then all is checked, and a new sale begins. */
const MAX_ROUND_SECONDS = 60
const SALE_WITHIN_MS = 10_000

export interface TortureOptions {
  readonly seed: number
  /** How long things are killed; settling and checking come on top. */
  readonly seconds: number
  readonly buyers: number
  /** How long things may take to settle in the end: charges are redelivered 15 s after their worker died. */
  readonly settleWithinMs: number
  readonly logs?: string
  readonly say?: (line: string) => void
}

export interface TortureReport {
  readonly seed: number
  readonly kills: Record<PartName, number>
  readonly wipes: number
  readonly outcome: Record<string, number>
  readonly answers: Record<string, number>
  /** Orders told of; keys told "processing"; and how many of these heard of another order, or of none, by asking again. */
  readonly promised: number
  readonly processing: number
  readonly superseded: number
  readonly settledAfterMs: number
  readonly violations: readonly string[]
}

/** Plays one sale; `violations` is empty when all held. Stops what it started, whatever happens. */
export async function torture(options: TortureOptions): Promise<TortureReport> {
  const faults: string[] = []
  const system = await startTortureSystem((what) => faults.push(what), options.logs)
  try {
    return await playSale(system, options, faults)
  } finally {
    await system.stop()
  }
}

async function playSale(
  system: TortureSystem,
  options: TortureOptions,
  faults: string[],
): Promise<TortureReport> {
  const { seed, seconds, buyers, say = () => {} } = options
  const sale = `torture-${seed}`
  const notes = new Notebook()
  const inspector = new Inspector(system)
  const oversold = new Set<string>()
  const kills: Record<PartName, number> = { redis: 0, postgres: 0, api: 0, worker: 0 }
  let wipes = 0
  let over = false
  try {
    await createSale(system, sale, seconds)
    const began = performance.now()
    const elapsed = () => (performance.now() - began) / 1000
    const watching = (async () => {
      while (!over) {
        const found = await inspector.oversold(sale).catch(() => [])
        for (const what of found) oversold.add(`in mid-sale, ${what}`)
        await sleep(LOOK_EVERY_MS)
      }
    })()
    const crowd = Array.from({ length: buyers }, (_, i) =>
      play({ system, sale, notes, over: () => over }, seeded(seed * 100_003 + i)),
    )
    const progress = setInterval(() => {
      const away = PARTS.filter((name) => !system.parts[name].up)
      say(
        `${elapsed().toFixed(0).padStart(4)} s  kills ${PARTS.map((p) => `${p} ${kills[p]}`).join(', ')};` +
          ` ${notes.orders.size} orders promised; away: ${away.join(', ') || 'none'}`,
      )
    }, 5_000)

    const comingBack = new Set<Promise<void>>()
    const rng = seeded(seed)
    const between = ({ least, most }: { least: number; most: number }) => least + rng() * (most - least)
    for (const next of rounds(rng)) {
      const [calm, down, wipe] = [between(CALM_MS), between(DOWN_MS), rng() < WIPE]
      await sleep(calm)
      if (elapsed() >= seconds) break
      const part = system.parts[next]
      if (!part.up) continue
      kills[next]++
      await part.kill()
      if (next === 'redis' && wipe) {
        wipes++
        system.wipeRedis()
      }
      const back: Promise<void> = sleep(down)
        .then(() => part.start())
        .finally(() => comingBack.delete(back))
      comingBack.add(back)
    }
    await Promise.all(comingBack)
    over = true
    await Promise.all([...crowd, watching])
    clearInterval(progress)
    say(`${elapsed().toFixed(0).padStart(4)} s  no more kills; waiting until all is quiet`)

    const quiet = performance.now()
    const left = await settle(inspector, sale, notes, options.settleWithinMs)
    return {
      seed,
      kills,
      wipes,
      outcome: await inspector.outcome(sale),
      answers: Object.fromEntries([...notes.answers].sort()),
      promised: notes.orders.size,
      processing: notes.promises,
      superseded: notes.superseded,
      settledAfterMs: Math.round(performance.now() - quiet),
      violations: [...faults, ...oversold, ...left],
    }
  } finally {
    over = true
    await inspector.stop()
  }
}

/** Each of the parts once, in an order of its own, again and again. */
function* rounds(rng: () => number): Generator<PartName> {
  for (;;) {
    const left = [...PARTS]
    while (left.length > 0) yield* left.splice(Math.floor(rng() * left.length), 1)
  }
}

/** Looks until nothing is wrong twice in a row, or time is up: what is wrong then is a violation. */
async function settle(
  inspector: Inspector,
  sale: string,
  notes: Notebook,
  withinMs: number,
): Promise<string[]> {
  const until = performance.now() + withinMs
  for (let clean = 0; ; ) {
    const found = await inspector
      .violations(sale, notes)
      .catch((error) => [`the stores could not be read: ${error}`])
    clean = found.length === 0 ? clean + 1 : 0
    if (clean === 2 || (found.length > 0 && performance.now() > until)) return found
    await sleep(SETTLE_LOOK_EVERY_MS)
  }
}

async function createSale(system: TortureSystem, sale: string, seconds: number): Promise<void> {
  const created = await system.admin('PUT', `/sales/${sale}`, {
    name: 'Torture',
    opens_at: new Date(Date.now() - 1_000).toISOString(),
    hold_seconds: HOLD_SECONDS,
    limit_per_visitor: LIMIT_PER_VISITOR,
    products: Object.entries(STOCK_PER_SECOND).map(([product_id, perSecond]) => ({
      product_id,
      name: product_id,
      unit_price_minor: 1_000,
      currency: 'EUR',
      total: Math.ceil(perSecond * seconds),
    })),
    admission: { rate_per_second: 1_000 },
  })
  if (created.status !== 201) throw new Error(`the sale was not created: ${JSON.stringify(created.body)}`)
  const until = performance.now() + SALE_WITHIN_MS
  while ((await system.admin('GET', `/sales/${sale}`)).status !== 200) {
    if (performance.now() > until) throw new Error('the sale is not there')
    await sleep(100)
  }
}

// -- The command ---------------------------------------------------------------------------------------------------

const HELP = `Kills Redis, Postgres, the api and the worker in turn under a sale, and checks that every promise was kept.

  npm run torture -- [options]

  --minutes N      how long things are killed, in rounds of a minute each (2)
  --seed N         who does what, and when what is killed (a new one each time)
  --buyers N       at once (80)
  --logs FOLDER    where the servers' logs go
  --help           this text

Exit status: 0 all held, 1 something was violated, 2 nothing could be tried, 130 interrupted.`

const text = { type: 'string' } as const
const OPTIONS = {
  ...{ minutes: text, seed: text, buyers: text, logs: text },
  help: { type: 'boolean', short: 'h' },
} as const

async function main(): Promise<number> {
  const values = optionsOf(OPTIONS, 'run torture')
  if (values.help) {
    console.log(HELP)
    return 0
  }
  const minutes = numberOf('minutes', values.minutes, 2, 0.01, 24 * 60)
  const seed = wholeOf('seed', values.seed, Math.floor(Math.random() * 1e6), 0, Number.MAX_SAFE_INTEGER)
  const buyers = wholeOf('buyers', values.buyers, 80, 1, 1_000)
  if (values.logs !== undefined) writableFolder(values.logs)
  const count = Math.max(1, Math.round((minutes * 60) / MAX_ROUND_SECONDS))
  const seconds = (minutes * 60) / count
  for (let round = 0; round < count; round++) {
    // The first round's seed is the one given, so that a round that failed can be played alone.
    const own = seed + round
    console.log(`Round ${round + 1} of ${count}, seed ${own}: ${seconds.toFixed(0)} s, ${buyers} buyers`)
    const report = await torture({
      seed: own,
      seconds,
      buyers,
      settleWithinMs: 90_000,
      say: (line) => console.log(line),
      ...(values.logs !== undefined && { logs: values.logs }),
    })
    const { violations, ...rest } = report
    console.log(JSON.stringify(rest))
    if (violations.length > 0) {
      for (const violation of violations) console.error(`VIOLATED: ${violation}`)
      console.error(
        `Again: npm run torture -- --minutes ${(seconds / 60).toFixed(2)} --seed ${own} --buyers ${buyers}`,
      )
      return 1
    }
    const untried = untriedOf(report)
    if (untried) throw new UsageError(`${untried}: nothing was tried. Give it more --minutes.`)
    console.log(`All held; quiet after ${(report.settledAfterMs / 1000).toFixed(1)} s.`)
  }
  return 0
}

/** Why a report without violations says nothing; null if it does say something. */
export function untriedOf({ kills, promised }: Pick<TortureReport, 'kills' | 'promised'>): string | null {
  if (promised === 0) return 'No order was promised'
  return PARTS.some((part) => kills[part] > 0) ? null : 'Nothing was killed'
}

if (import.meta.main) await run('Could not be played:', main)
