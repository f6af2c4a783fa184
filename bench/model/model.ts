/**
 * The command `npm run model` simulates a sale for the whole internet on a virtual clock with the real modules, and
 * reports what it requires of the platform: requests, object calls, dollars, and what fails first. With --cost it
 * reports what a hundred thousand visitors cost, from the requests that a rehearsal measured.
 */
import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { numberOf, optionsOf, paint, run, UsageError, wholeOf } from '../../dev/lib/command.ts'
import { MAX_SHARDS, shardsFor } from '../../shared/api/internal.ts'
import { SHAPES } from '../crowd/visitors/arrivals.ts'
import { playAfterEnd, STAY_MS } from './after-end.ts'
import { type Bills, billsOf, trafficOf } from './bills.ts'
import { count, sum } from './prices.ts'
import { type Outcome, play } from './sale.ts'
import { LIMITS, type Scenario } from './scenario.ts'

const HELP = `Runs a sale for the whole internet on a virtual clock, with the real modules.

  npm run model -- [options]

  --visitors N        (2000000)         --data-centres N   (330)
  --stock N           (10000)           --isolates N       (as many as the busiest second needs)
  --rate N            a second (2000)   --shards N         ticket shards (as a sale for so many has)
  --stampede N        the busiest second, as a multiple of the mean (20)
  --arrivals SHAPE    spike, ramp, early (early)
  --spread SECONDS    over how long they come (900)
  --known SHARE       signed in, or here before (0.1)
  --cost              what 100,000 visitors cost, from the requests in bench/results/report.json
  --report FILE       with --cost: another report to take them from
  --help              this text

Exit status: 0 done, 2 it could not run, 130 interrupted.`

const OPTIONS = {
  texts: 'visitors stock rate arrivals spread stampede data-centres isolates shards known report',
  flags: 'cost',
} as const

type Values = ReturnType<typeof optionsOf<typeof OPTIONS.texts, typeof OPTIONS.flags>>

export function readOptions(args?: readonly string[]) {
  const { cost, report, ...values } = optionsOf('run model', OPTIONS, args)
  const [first] = Object.keys(values)
  if (cost && first !== undefined)
    throw new UsageError(`--${first} changes nothing with --cost, which takes what was measured from a report.`)
  if (report !== undefined && !cost) throw new UsageError('--report goes with --cost.')
  return cost ? { report: report ?? 'bench/results/report.json' } : { scenario: scenarioOf(values) }
}

function scenarioOf(values: { [Name in Exclude<keyof Values, 'cost'>]?: string }): Scenario {
  const number = (name: keyof typeof values, usual: number, min: number, max: number) =>
    numberOf(name, values[name], usual, min, max)
  const whole = (name: keyof typeof values, usual: number, min: number, max: number) =>
    wholeOf(name, values[name], usual, min, max)
  const arrivals = SHAPES.find((shape) => shape === (values.arrivals ?? 'early'))
  if (!arrivals) throw new UsageError(`--arrivals is one of ${SHAPES.join(', ')}.`)
  const visitors = whole('visitors', 2_000_000, 1_000, 1e9)
  return {
    visitors,
    stock: whole('stock', 10_000, 1, 1e8),
    rate: number('rate', 2_000, 1, 100_000),
    arrivals,
    spreadSeconds: number('spread', 900, 1, 86_400),
    stampede: number('stampede', 20, 1, 1_000),
    dataCentres: whole('data-centres', 330, 1, 1_000),
    isolates: values.isolates === undefined ? null : whole('isolates', 1, 1, 100_000),
    shards: whole('shards', shardsFor(visitors), 1, MAX_SHARDS),
    known: number('known', 0.1, 0, 1),
    holdSeconds: 90,
    seed: 1,
  }
}

/** The share of its soft limit that the busiest object of each kind uses in its busiest second, the highest first. */
function strains({ peaks }: Outcome): { what: string; used: number; note: string }[] {
  const strain = (what: string, calls: number, limit: number) => ({
    what,
    used: calls / limit,
    note: `${count(calls)} of ${count(limit)}`,
  })
  return [
    strain('the waiting room, calls a second', peaks.coordinatorCalls, LIMITS.objectCalls),
    strain('a hub, calls a second', peaks.hubCalls, LIMITS.objectCalls),
    strain('a mirror, calls a second', peaks.mirrorCalls, LIMITS.objectCalls),
    strain('a ticket shard, calls a second', peaks.shardCalls, LIMITS.objectCalls),
    strain('a ticket shard, visitors recorded a second', peaks.shardWrites, LIMITS.objectWrites),
  ].sort((a, b) => b.used - a.used)
}

const title = (text: string, note = '') => console.log(`\n${paint('bold', text)} ${paint('dim', note)}`)
const line = (what: string, value: string, note = '') =>
  console.log(`  ${what.padEnd(44)}${value.padStart(16)}  ${paint('dim', note)}`)
const percent = (share = 0) => `${(share * 100).toFixed(0)} %`

function print(s: Scenario, o: Outcome): void {
  const each = (many: number, digits = 3) => `${(many / s.visitors).toFixed(digits)} per visitor`
  const requests = Object.values(o.requests).reduce((all, many) => all + many, 0)
  const soldOut = o.soldOutAfterSeconds === null ? 'not sold out' : `sold out after ${count(o.soldOutAfterSeconds)} s`
  title(
    `${count(s.visitors)} visitors (${s.arrivals}, over ${count(s.spreadSeconds)} s), ${s.dataCentres} data ` +
      `centres, stampede ${s.stampede} x, ${s.shards} shards`,
  )
  console.log(
    `  ${count(s.stock)} units at ${count(s.rate)}/s: ${count(o.sold)} sold, ${soldOut}, over for all after ` +
      `${count(o.seconds)} s; seen by 95 % of those who look within ${o.endSeenSeconds.toFixed(1)} s, an ` +
      `announcement within ${o.announcementSeenSeconds.toFixed(1)} s`,
  )
  title('Requests')
  for (const [kind, many] of Object.entries(o.requests)) line(kind, count(many), each(many))
  line(
    'reads of the schedule',
    count(o.scheduleReads),
    `${each(o.scheduleReads, 1)}: from the isolates' memory, or a CDN's`,
  )
  line('of which a CDN must fetch', count(o.scheduleMisses), 'simultaneous misses are not collapsed')
  line('all others', count(requests), `${count(o.peaks.workerRequests)} in the busiest second`)
  title('Objects')
  line('isolates at the height', count(o.isolates))
  line('objects, with the waiting room', count(o.objects))
  line('calls to objects', count(o.objectCalls), each(o.objectCalls))
  line(
    'calls to the origin, busiest second',
    count(o.peaks.originCalls),
    `the rate is ${count(s.rate)}; order look-ups included`,
  )
  line('numbers never issued, per number issued', o.gaps.toFixed(3))
  title('The busiest object of each kind, of its soft limit', '(in its busiest second; above 100 % it breaks)')
  for (const { what, used, note } of strains(o)) line(what, percent(used), note)
  printBills(billsOf(o, trafficOf(o)), s)
}

/** The operator restocks five minutes after the end, within the time in which most restocks come. */
const RESTOCK_AT_MS = 5 * 60_000

function printAfterEnd(s: Scenario): void {
  const after = playAfterEnd(s, RESTOCK_AT_MS)
  const minutes = STAY_MS / 60_000
  title(`After the end, for ${count(after.looking)} visitors who look at the page for ${minutes} minutes more`)
  line(
    'reads of the schedule, of each',
    after.readsEach.toFixed(1),
    `${count(after.readsAtPeak)} in the busiest second`,
  )
  line('of which run a Worker, with Workers Cache', count(after.runs))
  line(
    'dollars, with Workers Cache',
    after.dollars.toFixed(2),
    `${after.dollarsOfCdn.toFixed(2)} by a CDN that bills bytes`,
  )
  line(
    'pages loaded after a restock, busiest second',
    count(after.pagesAtPeak),
    `all live again within ${after.livesWithinSeconds.toFixed(1)} s`,
  )
}

function printBills({ runs, pagesFromCache, readsFromCache, costs, ways }: Bills, s: Scenario): void {
  const each = (many: number) => (many / s.visitors).toFixed(2)
  title('Requests per visitor, with Workers Cache')
  line('run a Worker', each(runs))
  line(
    'served by the cache',
    each(pagesFromCache + readsFromCache),
    `${each(pagesFromCache)} pages, ${each(readsFromCache)} reads of the schedule`,
  )
  title('Dollars, without a cache', '(list prices, nothing taken off)')
  for (const { what, how, dollars: amount } of costs) line(what, amount.toFixed(2), how)
  line('in all', sum(costs).toFixed(2))
  title('Dollars per 100,000 visitors, with')
  for (const { what, dollars, note } of ways) line(what, (dollars * (100_000 / s.visitors)).toFixed(2), note)
}

const amount = v.pipe(v.number(), v.minValue(0))
/** The part of a rehearsal's report that is used. */
const Report = v.object({
  options: v.object({ visitors: amount, shares: v.object({ known: amount }) }),
  perVisitor: v.object({ worker: amount, cache: v.optional(amount, 0), cdn: amount }),
})

export function readReport(file: string): v.InferOutput<typeof Report> {
  let read: string
  try {
    read = readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(
      `${file} cannot be read (${(error as NodeJS.ErrnoException).code}): rehearse first (npm run rehearse), or ` +
        'name a report with --report.',
    )
  }
  try {
    return v.parse(Report, JSON.parse(read))
  } catch {
    throw new UsageError(`${file} is no report of a rehearsal: name its report.json.`)
  }
}

/**
 * The costs of what a rehearsal measured. Object calls are invisible from outside, so they are those of the model.
 */
async function printMeasuredCost(file: string): Promise<void> {
  const { options, perVisitor } = readReport(file)
  const { worker, cache, cdn } = perVisitor
  const s = { ...scenarioOf({}), visitors: 100_000, known: options.shares.known, shards: 1, stampede: 5 }
  title(
    `100,000 visitors, each with ${worker.toFixed(2)} requests to a Worker, ${cache.toFixed(2)} served by a ` +
      `cache and ${cdn.toFixed(2)} reads of the schedule`,
    `(measured with ${count(options.visitors)} visitors; object calls, and what caches fetch, as modelled)`,
  )
  if (cache === 0) console.log('  Rehearse with --cdn to see how many pages a cache serves.')
  const traffic = {
    requests: (worker + cache) * s.visitors,
    pagesFromCache: cache * s.visitors,
    scheduleReads: cdn * s.visitors,
  }
  printBills(billsOf(await play(s), traffic), s)
}

async function printSale(scenario: Scenario): Promise<void> {
  print(scenario, await play(scenario))
  printAfterEnd(scenario)
}

if (import.meta.main)
  await run(HELP, 'The model failed:', async () => {
    const { report, scenario } = readOptions()
    await (scenario ? printSale(scenario) : printMeasuredCost(report))
    return 0
  })
