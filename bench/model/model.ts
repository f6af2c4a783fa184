/**
 * `npm run model`: a sale for the whole internet, played on a virtual clock with the real modules, and what it would ask
 * of the platform: requests, object calls, dollars, and what breaks first. With --cost: what a hundred thousand visitors
 * cost, from the requests a rehearsal measured.
 */
import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { numberOf, optionsOf, paint, run, UsageError, wholeOf } from '../../dev/command.ts'
import { SHAPES, type Shape } from '../rehearsal/arrivals.ts'
import { costOf, count, sum, type Usage } from './prices.ts'
import { play } from './sale.ts'
import { LIMITS, type Outcome, type Scenario } from './scenario.ts'

const HELP = `Plays a sale for the whole internet on a virtual clock, with the real modules.

  npm run model -- [options]

  --visitors N        (10000000)        --data-centres N   (330)
  --stock N           (10000)           --shards N         ticket shards (64)
  --rate N            a second (2000)   --stampede N       the busiest second, in times the mean one (20)
  --arrivals SHAPE    spike, ramp, early (early)
  --spread SECONDS    over how long they come (900)
  --known SHARE       signed in, or here before (0.1)
  --cost              what 100,000 visitors cost, from the requests in bench/results/report.json
  --report FILE       with --cost: another report to take them from
  --help              this text

Exit status: 0 played, 2 it could not be.`

/** Processor time of a Worker request, milliseconds: about what npm run bench measures for a join and a status. */
const WORKER_CPU_MS = 0.15
const SHARDS = [1, 4, 16, 64, 256]

const text = { type: 'string' } as const
const OPTIONS = {
  ...{ visitors: text, stock: text, rate: text, arrivals: text, spread: text, stampede: text },
  ...{ 'data-centres': text, shards: text, known: text, report: text },
  cost: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

function readOptions() {
  const { cost, report, help, ...scenario } = optionsOf(OPTIONS, 'run model')
  const [first] = Object.keys(scenario)
  if (cost && first !== undefined)
    throw new UsageError(`--${first} changes nothing with --cost: what was measured is taken from a report.`)
  if (report !== undefined && !cost) throw new UsageError('--report goes with --cost.')
  return { cost, report, help, scenario }
}

function scenarioOf(values: ReturnType<typeof readOptions>['scenario']): Scenario {
  const number = (name: keyof typeof values, usual: number, min: number, max: number) =>
    numberOf(name, values[name], usual, min, max)
  const whole = (name: keyof typeof values, usual: number, min: number, max: number) =>
    wholeOf(name, values[name], usual, min, max)
  const arrivals = SHAPES.find((shape) => shape === (values.arrivals ?? 'early'))
  if (!arrivals) throw new UsageError(`--arrivals is one of ${SHAPES.join(', ')}.`)
  return {
    visitors: whole('visitors', 10_000_000, 1_000, 1e9),
    stock: whole('stock', 10_000, 1, 1e8),
    rate: number('rate', 2_000, 1, 100_000),
    arrivals: arrivals as Shape,
    spreadSeconds: number('spread', 900, 1, 86_400),
    stampede: number('stampede', 20, 1, 1_000),
    dataCentres: whole('data-centres', 330, 1, 1_000),
    shards: whole('shards', 64, 1, 256),
    isolatePerSecond: 500,
    known: number('known', 0.1, 0, 1),
    holdSeconds: 90,
    abandon: 0.1,
    declines: 0.05,
    tripMs: 60,
    seed: 1,
  }
}

/** Requests that only a Worker can answer. */
const unkept = (o: Outcome) => Object.values(o.requests).reduce((all, n) => all + n, 0)

function usageOf(o: Outcome, s: Scenario, workerRequests: number): Usage {
  return {
    workerRequests,
    workerCpuMs: workerRequests * WORKER_CPU_MS,
    objectRequests: o.objectCalls,
    objectSeconds: o.seconds * (s.shards + 1),
    rowsWritten: o.rowsWritten,
  }
}

/** How many times over each limit is used at the busiest second, the worst first. */
function strains(o: Outcome): { what: string; used: number; of: string; remedy: string }[] {
  return [
    {
      what: 'the coordinator, calls a second',
      used: o.peaks.coordinatorCalls / LIMITS.objectCalls,
      of: `${count(o.peaks.coordinatorCalls)} of ${count(LIMITS.objectCalls)}`,
      remedy: 'fewer shards: each asks it ten times a second',
    },
    {
      what: 'a ticket shard, calls a second',
      used: o.peaks.shardCalls / LIMITS.objectCalls,
      of: `${count(o.peaks.shardCalls)} of ${count(LIMITS.objectCalls)}`,
      remedy: 'more shards (TICKET_SHARDS)',
    },
    {
      what: 'a ticket shard, visitors recorded a second',
      used: o.peaks.shardWrites / LIMITS.objectWrites,
      of: `${count(o.peaks.shardWrites)} of ${count(LIMITS.objectWrites)}`,
      remedy: 'more shards, or a lobby that opens earlier',
    },
  ].sort((a, b) => b.used - a.used)
}

function print(s: Scenario, o: Outcome, sweep: readonly { shards: number; o: Outcome }[]): void {
  const line = (what: string, value: string, note = '') =>
    console.log(`  ${what.padEnd(44)}${value.padStart(16)}  ${paint('dim', note)}`)
  console.log(
    paint(
      'bold',
      `${count(s.visitors)} visitors (${s.arrivals}, over ${count(s.spreadSeconds)} s), ${s.dataCentres} data centres, stampede ${s.stampede} x, ${s.shards} shards`,
    ),
  )
  console.log(
    `  ${count(s.stock)} units at ${count(s.rate)}/s: ${count(o.sold)} sold ${o.soldOutAfterSeconds === null ? 'and not sold out' : `out after ${count(o.soldOutAfterSeconds)} s`}, all told after ${count(o.seconds)} s`,
  )
  console.log(`\n${paint('bold', 'Requests')}`)
  for (const [kind, many] of Object.entries(o.requests))
    line(kind, count(many), `${(many / s.visitors).toFixed(3)} per visitor`)
  line(
    'reads of the schedule',
    count(o.scheduleReads),
    `${(o.scheduleReads / s.visitors).toFixed(1)} per visitor: from the isolates' memory, or a CDN's`,
  )
  line(
    'of which a CDN would have to fetch',
    count(o.scheduleMisses),
    'misses of one moment are not collapsed',
  )
  line('all else', count(unkept(o)), `${count(o.peaks.workerRequests)} in the busiest second`)
  console.log(`\n${paint('bold', 'Objects')}`)
  line('isolates at the height', count(o.isolates))
  line('calls of objects', count(o.objectCalls), `${(o.objectCalls / s.visitors).toFixed(3)} per visitor`)
  line(
    'calls of the origin, busiest second',
    count(o.peaks.originCalls),
    `the rate is ${count(s.rate)}; looks at orders included`,
  )
  line('numbers nobody has, per number given', o.gaps.toFixed(3))
  console.log(
    `\n${paint('bold', 'What is used up first')} ${paint('dim', '(at the busiest second; above 100 % it breaks)')}`,
  )
  for (const { what, used, of, remedy } of strains(o))
    line(what, `${(used * 100).toFixed(0)} %`, `${of}; ${remedy}`)
  console.log(`\n${paint('bold', 'The same sale by the number of shards')}`)
  for (const { shards, o: other } of sweep) {
    const [worst] = strains(other)
    line(
      `${shards} ${shards === 1 ? 'shard' : 'shards'}`,
      `${((worst?.used ?? 0) * 100).toFixed(0)} %`,
      worst?.what,
    )
  }
  printCosts(o, s, unkept(o), o.scheduleReads)
}

/**
 * Cloudflare runs the Worker for each read of the schedule, and its own cache before Workers bills a kept answer as a
 * request all the same; only a CDN of another kind before it saves them.
 */
function printCosts(o: Outcome, s: Scenario, requests: number, scheduleReads: number): void {
  const costs = costOf(usageOf(o, s, requests + scheduleReads))
  const withCdn = sum(costOf(usageOf(o, s, requests + o.scheduleMisses)))
  console.log(`\n${paint('bold', 'Dollars')} ${paint('dim', '(list prices, nothing taken off)')}`)
  const line = (what: string, how: string, dollars: number) =>
    console.log(`  ${what.padEnd(34)}${how.padStart(16)}${dollars.toFixed(2).padStart(12)}`)
  for (const { what, how, dollars } of costs) line(what, how, dollars)
  const each = 100_000 / s.visitors
  line('in all', '', sum(costs))
  line('per 100,000 visitors', '', sum(costs) * each)
  line('with a CDN before the schedule', '', withCdn * each)
}

const amount = v.pipe(v.number(), v.minValue(0))
/** What is taken from a rehearsal's report. */
const Report = v.object({
  options: v.object({ visitors: amount, shares: v.object({ known: amount }) }),
  perVisitor: v.object({ worker: amount, cdn: amount }),
})

function readReport(file: string): v.InferOutput<typeof Report> {
  let read: string
  try {
    read = readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(
      `${file} cannot be read (${(error as NodeJS.ErrnoException).code}): rehearse first (npm run rehearse), or name a report with --report.`,
    )
  }
  try {
    return v.parse(Report, JSON.parse(read))
  } catch {
    throw new UsageError(`${file} is no report of a rehearsal: it is the report.json that is wanted.`)
  }
}

/** What a rehearsal measured, as dollars. Object calls are not seen from outside: the model's are taken. */
async function printMeasuredCost(file: string): Promise<void> {
  const report = readReport(file)
  const { worker, cdn } = report.perVisitor
  const s = {
    ...scenarioOf({}),
    visitors: 100_000,
    known: report.options.shares.known,
    shards: 1,
    dataCentres: 330,
    stampede: 5,
  }
  const o = await play(s)
  console.log(
    paint(
      'bold',
      `100,000 visitors, each with ${worker.toFixed(2)} requests of a Worker and ${cdn.toFixed(2)} reads of the schedule`,
    ),
  )
  console.log(
    paint(
      'dim',
      `  measured with ${count(report.options.visitors)} visitors; object calls, and what caches fetch, as modelled`,
    ),
  )
  printCosts(o, s, worker * s.visitors, cdn * s.visitors)
}

await run('Could not be played:', async () => {
  const { help, cost, report, scenario: values } = readOptions()
  if (help) console.log(HELP)
  else if (cost) await printMeasuredCost(report ?? 'bench/results/report.json')
  else {
    const scenario = scenarioOf(values)
    const sweep: { shards: number; o: Outcome }[] = []
    for (const shards of SHARDS) sweep.push({ shards, o: await play({ ...scenario, shards }) })
    const asked = sweep.find(({ shards }) => shards === scenario.shards)?.o
    print(scenario, asked ?? (await play(scenario)), sweep)
  }
  return 0
})
