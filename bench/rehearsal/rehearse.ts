/**
 * `npm run rehearse`: a crowd of real HTTP clients plays a whole sale, and a verdict is read from the ledger and from
 * what every client was told. Starts a system of its own, or plays on a running one.
 */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { paint, run, terminal, UsageError, writableFolder } from '../../dev/command.ts'
import { startSystem } from '../../dev/system.ts'
import { duration, n } from '../lib/figures.ts'
import type { Percentiles } from '../lib/histogram.ts'
import { seeded } from '../lib/random.ts'
import type { Dot } from '../report/charts.ts'
import { percentileTexts, type Result, reportHtml } from '../report/report.ts'
import { type Check, isGood } from '../verdict/check.ts'
import { verdict } from '../verdict/verdict.ts'
import { arrivalTimes, leadMs } from './arrivals.ts'
import { Crowd } from './crowd.ts'
import {
  admin,
  chargesOf,
  edgeAnswers,
  evidenceOf,
  settledLedger,
  type Target,
  TargetError,
} from './evidence.ts'
import { Live } from './live.ts'
import { HELP, type Options, readOptions } from './options.ts'
import { KINDS } from './tally.ts'
import { Visitors } from './visitors.ts'

/** Between the sale's creation and the first visitor: time for the edge to hear of it. */
const LEAD_MS = 2_000
/** The edge knows a new sale within a second; on a busy machine a little later. */
const KNOWN_WITHIN_MS = 10_000
const LIMIT_PER_VISITOR = 1
const PRICE = { unit_price_minor: 4900, currency: 'EUR' }
/** Whoever interrupts does not wait longer for the sale to be ended than this. */
const END_WITHIN_MS = 3_000
/** Dots in the fairness chart; more would only be one blot. */
const MAX_DOTS = 4_000
/** Bars in the charts of requests per visitor; the last one takes all beyond. */
const SPREAD = 16

async function targetOf(
  options: Options,
  leave: (status: number, line: string) => Promise<void>,
): Promise<Target> {
  if (options.edge && options.origin) {
    if (!options.adminToken)
      throw new UsageError('A running system needs --admin-token, ADMIN_TOKEN, or --data with its folder.')
    const { edge, origin, adminToken } = options
    await edgeAnswers(edge)
    return { edge, origin, adminToken, databaseUrl: process.env.DATABASE_URL || undefined }
  }
  console.log('Starting a system of its own ...')
  const system = await startSystem({
    originEnv: { LOG_LEVEL: 'warn' },
    edgeVars: { CLAIM_SECONDS: String(options.claimSeconds), TICKET_SHARDS: String(options.shards) },
  })
  void system.failed.then((how) => leave(2, `${how}.`))
  return {
    edge: system.edgeUrl,
    origin: system.originUrl,
    adminToken: system.adminToken,
    databaseUrl: system.databaseUrl,
  }
}

/** Ends the sale that is being played, if one is; a sale on a running system must not stay live behind us. */
let endSale = async (_withinMs?: number) => {}

async function rehearse(options: Options, leave: (status: number, line: string) => Promise<void>) {
  const beganMs = performance.now()
  const untilMs = beganMs + options.maxMinutes * 60_000
  const to = await targetOf(options, leave)
  const sale = `rehearsal-${randomUUID().slice(0, 8)}`
  endSale = async (withinMs) => {
    endSale = async () => {}
    await admin(to, 'POST', `/sales/${sale}/end`, undefined, withinMs).catch(() => {})
  }
  try {
    return await play(options, to, sale, beganMs, untilMs)
  } finally {
    await endSale()
  }
}

async function play(options: Options, to: Target, sale: string, beganMs: number, untilMs: number) {
  const spreadMs = options.spreadSeconds * 1000
  const opensInMs = LEAD_MS + leadMs(options.arrivals, spreadMs)
  const opensAtMs = performance.now() + opensInMs
  await admin(to, 'PUT', `/sales/${sale}`, {
    name: 'Rehearsal',
    opens_at: new Date(Date.now() + opensInMs).toISOString(),
    hold_seconds: options.holdSeconds,
    limit_per_visitor: LIMIT_PER_VISITOR,
    products: [{ product_id: 'unit', name: 'Unit', ...PRICE, total: options.stock }],
    admission: { rate_per_second: options.rate },
  })

  const random = seeded(options.seed)
  const arrivals = arrivalTimes(options.arrivals, options.visitors, spreadMs, random)
  for (let i = 0; i < arrivals.length; i++) arrivals[i] = opensAtMs + (arrivals[i] ?? 0)
  const crowd = new Crowd(new Visitors(arrivals, options.shares, random), {
    edge: to.edge,
    sale,
    thinkMs: options.thinkSeconds * 1000,
    connections: options.connections,
    pages: options.pages,
    random,
  })
  await announcement(crowd)
  console.log(
    `${n(options.visitors)} visitors (${options.arrivals}), ${n(options.stock)} units, ${n(options.rate)}/s; sale ${sale}, seed ${options.seed}`,
  )

  const live = new Live(crowd, options, opensAtMs, terminal && !options.plain)
  let cutShort = false
  const end = setTimeout(() => {
    cutShort = true
    crowd.stop()
  }, untilMs - performance.now())
  quiet = () => live.quiet()
  live.start()
  await crowd.play()
  clearTimeout(end)
  const samples = live.stop()

  console.log('\nEverybody has left. Reading the ledger ...')
  await crowd.cdn.read().catch(() => {})
  const ledger = await settledLedger(to, sale, options.holdSeconds)
  const charges = await chargesOf(to.databaseUrl, sale)
  const checks = verdict(
    evidenceOf(crowd, ledger, charges, {
      stock: options.stock,
      rate: options.rate,
      limit: LIMIT_PER_VISITOR,
      price: PRICE,
      holdMs: options.holdSeconds * 1000,
      ownSystem: options.edge === undefined,
      cutShort,
    }),
  )
  const { adminToken: _, ...told } = options
  const result: Result = {
    sale,
    at: new Date().toISOString(),
    options: told,
    good: isGood(checks),
    checks,
    ends: crowd.tally.ends,
    requests: crowd.tally.requests,
    refusals: byTimes(crowd.tally.refusals),
    ...requestsOf(crowd),
    latencies: latenciesOf(crowd),
    samples,
    fairness: fairnessOf(crowd, opensAtMs),
    complaints: byTimes(crowd.tally.complaints),
    seconds: Math.round((performance.now() - beganMs) / 100) / 10,
    memoryMb: live.peakMemoryMb,
  }
  crowd.client.close()
  print(result)
  save(result)
  return result.good
}

const byTimes = (counts: ReadonlyMap<string, number>) => [...counts].sort((a, b) => b[1] - a[1])

/** Waits for the schedule as it is first published: what it says of the draw is what the draw is held to. */
async function announcement(crowd: Crowd): Promise<void> {
  const untilMs = performance.now() + KNOWN_WITHIN_MS
  for (;;) {
    try {
      await crowd.cdn.read()
      return
    } catch (error) {
      if (performance.now() > untilMs)
        throw new TargetError(
          `The edge at ${crowd.options.edge} does not know the sale: ${(error as Error).message}. Is its ORIGIN_URL this origin's?`,
        )
      await sleep(100)
    }
  }
}

function requestsOf({ visitors, cdn, tally }: Crowd): Pick<Result, 'perVisitor' | 'schedule'> {
  const sum = (list: Uint16Array) => list.reduce((total, times) => total + times, 0)
  const spread = (list: Uint16Array) => {
    const counts = new Array<number>(SPREAD + 1).fill(0)
    for (const times of list) counts[Math.min(SPREAD, times)] = (counts[Math.min(SPREAD, times)] ?? 0) + 1
    return counts
  }
  const worker = KINDS.reduce((total, kind) => total + tally.requests[kind], 0)
  const fromCdn = sum(visitors.cdnReads)
  return {
    schedule: { read: cdn.reads, fromCdn },
    perVisitor: {
      worker: worker / visitors.size,
      cdn: fromCdn / visitors.size,
      workerSpread: spread(visitors.workerRequests),
      cdnSpread: spread(visitors.cdnReads),
    },
  }
}

function latenciesOf(crowd: Crowd): Result['latencies'] {
  const byKind = Object.fromEntries(
    KINDS.map((kind) => [kind, crowd.tally.latency[kind].summary()]),
  ) as Record<(typeof KINDS)[number], Percentiles>
  return { ...byKind, settled: crowd.tally.settled.summary(), schedule: crowd.cdn.latency.summary() }
}

function fairnessOf(crowd: Crowd, opensAtMs: number): Dot[] {
  const { visitors } = crowd
  const draw = crowd.draw()
  if (!draw) return []
  const dots: Dot[] = []
  // All who bought up to a third of the chart, and as many of the others as there is room for.
  const step = Math.max(1, Math.ceil(visitors.size / (MAX_DOTS * 0.67)))
  const buyers = Math.max(1, Math.ceil(crowd.tally.ends.bought / (MAX_DOTS * 0.33)))
  let bought = 0
  for (let visitor = 0; visitor < visitors.size; visitor++) {
    const number = visitors.number[visitor] ?? Number.NaN
    if (Number.isNaN(number)) continue
    const strong = visitors.endOf(visitor) === 'bought'
    if (strong ? bought++ % buyers !== 0 : visitor % step !== 0) continue
    dots.push({
      x: Math.round(((visitors.joinAnsweredMs[visitor] ?? 0) - opensAtMs) / 10) / 100,
      y: draw.positionOf(number),
      kind: strong ? 'strong' : 'plain',
    })
  }
  return dots
}

function print(r: Result): void {
  const mark = ({ holds }: Check) =>
    holds === null ? paint('dim', '–') : holds ? paint('green', '✔') : paint('red', '✘')
  const width = Math.max(...r.checks.map((c) => c.what.length))
  console.log(`\n${paint('bold', 'Verdict')}`)
  for (const c of r.checks) console.log(`  ${mark(c)} ${c.what.padEnd(width)}  ${paint('dim', c.detail)}`)

  console.log(`\n${paint('bold', 'Visitors')}`)
  for (const [end, times] of Object.entries(r.ends))
    if (times > 0) console.log(`  ${end.replaceAll('_', ' ').padEnd(16)}${n(times).padStart(10)}`)

  const head = ['count', 'p50', 'p90', 'p99', 'p99.9', 'slowest'].map((name) => name.padStart(10)).join('')
  console.log(`\n${paint('bold', 'Latency')}         ${paint('dim', head)}`)
  for (const [name, p] of Object.entries(r.latencies)) {
    if (p.count === 0) continue
    const label = name === 'settled' ? 'paid' : name
    const figures = percentileTexts(p)
      .map((text) => text.padStart(10))
      .join('')
    console.log(`  ${label.padEnd(14)}${n(p.count).padStart(10)}${figures}`)
  }

  const each = KINDS.map((kind) => [kind, r.requests[kind] / r.options.visitors] as const)
    .filter(([, share]) => share > 0)
    .map(([kind, share]) => `${kind} ${share.toFixed(2)}`)
  console.log(
    `\n${paint('bold', 'Requests per visitor')}  ${r.perVisitor.worker.toFixed(2)} of a Worker (${each.join(', ')}); ${r.perVisitor.cdn.toFixed(2)} reads of the schedule`,
  )
  console.log(`${duration(r.seconds * 1000)} in all, ${n(r.memoryMb)} MB for the crowd at most`)
  if (r.refusals.length > 0) {
    const each = r.refusals.slice(0, 12).map(([what, times]) => `${what}: ${n(times)}`)
    console.log(`${paint('bold', 'Answers that were refusals, or none')}  ${each.join(', ')}`)
  }
  if (r.complaints.length > 0) {
    console.log(`\n${paint('bold', 'What clients complained of')}`)
    for (const [what, times] of r.complaints.slice(0, 10)) console.log(`  ${n(times)} x ${what}`)
  }
}

function save(result: Result): void {
  const { out } = result.options
  writeFileSync(join(out, 'report.json'), `${JSON.stringify(result)}\n`)
  writeFileSync(join(out, 'report.html'), reportHtml(result))
  const path = relative(process.cwd(), join(out, 'report.html'))
  console.log(`\nReport: ${path}, and report.json beside it`)
}

// -- From start to stop ----------------------------------------------------------------------------------------------

/** Draws no more. */
let quiet = () => {}

await run(
  paint('red', 'Could not be played:'),
  async (leave) => {
    const options = readOptions(process.argv.slice(2))
    if (options === 'help') {
      console.log(HELP)
      return 0
    }
    writableFolder(options.out)
    const good = await rehearse(options, leave)
    console.log(good ? paint('green', '\nGood.') : paint('red', '\nNot good.'))
    return good ? 0 : 1
  },
  async () => {
    quiet()
    await endSale(END_WITHIN_MS)
  },
)
