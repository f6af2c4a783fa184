/**
 * `npm run rehearse`: a crowd of real HTTP clients plays a whole sale, and a verdict is read from the ledger and from
 * what every client was told. Starts a system of its own, or plays against a running one.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { killEverything, stopEverything } from '../origin/local/children.ts'
import { startSystem } from '../origin/local/system.ts'
import { isDrawn } from '../shared/schedule.ts'
import { arrivalTimes, SHAPES, type Shape, seeded } from './arrivals.ts'
import { Crowd } from './crowd.ts'
import { Live, type Sample } from './live.ts'
import { reportHtml } from './report.ts'
import { type LedgerOrder, verdict } from './verdict.ts'

const HELP = `Plays a whole sale with a crowd of real HTTP clients, and judges it.

  npm run rehearse -- [options]

  --visitors N       how many come (2000)
  --stock N          units (100)
  --rate N           admissions per second (200)
  --arrivals SHAPE   spike, ramp, early or bots (spike)
  --spread SECONDS   over how long they come (visitors / 4000, at least 1)
  --declines SHARE   of buyers whose card is declined (0.05)
  --timeouts SHARE   of buyers whose payment times out once (0.02)
  --abandon SHARE    of buyers who walk away from their cart (0.05)
  --hold SECONDS     how long a cart is held (5)
  --seed N           plays the same crowd again (a new one each time)
  --max-minutes N    an end to it in any case (15)
  --edge URL --origin URL [--admin-token T]   a running system (token also from ADMIN_TOKEN);
                     with DATABASE_URL the provider's records are compared as well
  --out FOLDER       where report.html and report.json go (bench/results)
  --help             this text

Exit status: 0 the verdict is good, 1 it is not, 2 it could not be played.`

interface Options {
  readonly visitors: number
  readonly stock: number
  readonly rate: number
  readonly arrivals: Shape
  readonly spreadSeconds: number
  readonly declines: number
  readonly timeouts: number
  readonly abandon: number
  readonly holdSeconds: number
  readonly seed: number
  readonly maxMinutes: number
  readonly edge: string | undefined
  readonly origin: string | undefined
  readonly adminToken: string | undefined
  readonly out: string
}

/** Before the opening: time to warm up, and for the lobby in the shape `early`. */
const LEAD_SECONDS = 3

function readOptions(): Options {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    options: {
      visitors: text,
      stock: text,
      rate: text,
      arrivals: text,
      spread: text,
      declines: text,
      timeouts: text,
      abandon: text,
      hold: text,
      seed: text,
      'max-minutes': text,
      edge: text,
      origin: text,
      'admin-token': text,
      out: text,
      help: { type: 'boolean' },
    },
  })
  if (values.help) {
    console.log(HELP)
    process.exit(0)
  }
  const number = (name: keyof typeof values, usual: number, min: number, max: number) => {
    const value = values[name] === undefined ? usual : Number(values[name])
    if (!(value >= min && value <= max)) throw new Error(`--${name} needs a number from ${min} to ${max}`)
    return value
  }
  const arrivals = values.arrivals ?? 'spike'
  if (!SHAPES.includes(arrivals as Shape)) throw new Error(`--arrivals is one of ${SHAPES.join(', ')}`)
  if ((values.edge === undefined) !== (values.origin === undefined))
    throw new Error('--edge and --origin go together')
  const visitors = Math.round(number('visitors', 2_000, 1, 5_000_000))
  return {
    visitors,
    stock: Math.round(number('stock', 100, 1, 10_000_000)),
    rate: number('rate', 200, 0.01, 100_000),
    arrivals: arrivals as Shape,
    spreadSeconds: number('spread', Math.max(1, visitors / 4_000), 0, 3_600),
    declines: number('declines', 0.05, 0, 1),
    timeouts: number('timeouts', 0.02, 0, 1),
    abandon: number('abandon', 0.05, 0, 1),
    holdSeconds: Math.round(number('hold', 5, 1, 3_600)),
    seed: Math.round(number('seed', Date.now() % 1_000_000, 0, 2 ** 32 - 1)),
    maxMinutes: number('max-minutes', 15, 0.1, 240),
    edge: values.edge,
    origin: values.origin,
    adminToken: values['admin-token'] ?? process.env.ADMIN_TOKEN,
    out: values.out ?? 'bench/results',
  }
}

interface Target {
  readonly edge: string
  readonly origin: string
  readonly adminToken: string
  readonly databaseUrl: string | undefined
}

async function target(options: Options): Promise<Target> {
  if (options.edge && options.origin) {
    if (!options.adminToken) throw new Error('--admin-token or ADMIN_TOKEN is needed for a running system')
    const databaseUrl = process.env.DATABASE_URL
    return { edge: options.edge, origin: options.origin, adminToken: options.adminToken, databaseUrl }
  }
  console.log('Starting a system of its own ..')
  const system = await startSystem({ originEnv: { LOG_LEVEL: 'warn' } })
  void system.failed.then((why) => fail(why))
  return {
    edge: system.edgeUrl,
    origin: system.originUrl,
    adminToken: system.adminToken,
    databaseUrl: system.databaseUrl,
  }
}

async function admin(to: Target, method: string, path: string, body?: unknown): Promise<Response> {
  const response = await fetch(`${to.origin}/admin${path}`, {
    method,
    headers: { authorization: `Bearer ${to.adminToken}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  })
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
  return response
}

async function rehearse(options: Options): Promise<boolean> {
  const to = await target(options)
  const sale = `rehearsal-${randomUUID().slice(0, 8)}`
  const lobbySeconds = options.arrivals === 'early' ? options.spreadSeconds : 0
  const leadMs = (LEAD_SECONDS + lobbySeconds) * 1000
  const opensAt = new Date(Date.now() + leadMs)
  const opensAtMs = performance.now() + leadMs
  await admin(to, 'PUT', `/sales/${sale}`, {
    name: 'Rehearsal',
    opens_at: opensAt.toISOString(),
    hold_seconds: options.holdSeconds,
    products: [
      { product_id: 'unit', name: 'Unit', unit_price_minor: 4900, currency: 'EUR', total: options.stock },
    ],
    admission: { rate_per_second: options.rate },
  })
  const random = seeded(options.seed)
  const crowd = new Crowd({
    edge: to.edge,
    sale,
    arrivals: arrivalTimes(options.arrivals, options.visitors, options.spreadSeconds * 1000, random),
    opensAtMs,
    random,
    declines: options.declines,
    timeouts: options.timeouts,
    abandon: options.abandon,
    bots: options.arrivals === 'bots',
    untilMs: performance.now() + options.maxMinutes * 60_000,
  })
  await sleep(200)
  const before = await crowd.readSchedule()
  console.log(
    `${options.visitors} visitors, ${options.stock} units, ${options.rate}/s; seed ${options.seed}; sale ${sale}`,
  )

  const live = new Live(crowd, options, opensAtMs)
  live.start()
  await crowd.play()
  const samples = live.stop()

  const after = await settledLedger(to, sale)
  await crowd.readSchedule().catch(() => {})
  const schedule = crowd.schedule ?? before
  const checks = verdict({
    stock: options.stock,
    stories: crowd.stories.map((s) =>
      s.number !== null && s.number < 0 ? { ...s, number: schedule.pre_queue_size + 1e12 - s.number } : s,
    ),
    orders: after.orders,
    inventory: after.inventory,
    draw: {
      commitment: schedule.draw_commitment,
      commitmentBefore: before.draw_commitment,
      seed: isDrawn(schedule) ? schedule.draw_seed : '',
      size: schedule.pre_queue_size,
    },
    charges: await chargesOf(to, after.orders),
    worstRoundTripMs: crowd.latency.join.summary().max,
  })
  const good = checks.every((c) => c.holds)
  const latencies = Object.fromEntries(Object.entries(crowd.latency).map(([name, h]) => [name, h.summary()]))
  print(checks, crowd, latencies, options)
  save(
    options,
    {
      sale,
      options,
      checks,
      good,
      latencies,
      counts: crowd.counts,
      samples,
      complaints: [...crowd.complaints],
    },
    crowd,
  )
  await admin(to, 'POST', `/sales/${sale}/end`).catch(() => {})
  return good
}

/** The ledger, once nothing moves any more: holds of those who walked away have ended, charges are through. */
async function settledLedger(to: Target, sale: string) {
  const until = performance.now() + 60_000
  for (;;) {
    const body = (await (await admin(to, 'GET', `/sales/${sale}`)).json()) as {
      products: [{ total: number; available: number; held: number; sold: number }]
    }
    const [inventory] = body.products
    if (inventory.held === 0 || performance.now() > until) {
      const lines = (await (await admin(to, 'GET', `/sales/${sale}/orders?format=ndjson`)).text()).split('\n')
      const orders = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as LedgerOrder)
      return { inventory, orders }
    }
    await sleep(500)
  }
}

/** The provider's own records, where the database is within reach. */
async function chargesOf(to: Target, orders: readonly LedgerOrder[]) {
  if (!to.databaseUrl) return null
  const sql = postgres(to.databaseUrl, { max: 1, onnotice: () => {} })
  try {
    const ids = orders.map((o) => o.order_id)
    return await sql<{ order: string; status: string }[]>`
      select order_id::text as "order", status from sandbox.charges where order_id = any(${ids}::uuid[])`
  } catch {
    return null
  } finally {
    await sql.end({ timeout: 2 })
  }
}

function print(checks: ReturnType<typeof verdict>, crowd: Crowd, latencies: object, options: Options): void {
  console.log('\nVerdict')
  for (const { what, holds, detail } of checks)
    console.log(`  ${holds ? '✔' : '✘'} ${what.padEnd(42)} ${detail}`)
  console.log('\nMilliseconds      count       p50       p90       p99     p99.9       max')
  for (const [name, p] of Object.entries(latencies) as [
    string,
    { count: number; p50: number; p90: number; p99: number; p999: number; max: number },
  ][]) {
    const figures = [p.p50, p.p90, p.p99, p.p999, p.max]
      .map((ms) => ms.toFixed(ms < 10 ? 2 : 0).padStart(10))
      .join('')
    console.log(`  ${name.padEnd(11)}${String(p.count).padStart(10)}${figures}`)
  }
  const { requests } = crowd.counts
  const each = (n: number) => (n / options.visitors).toFixed(2)
  console.log(
    `\nRequests per visitor: join ${each(requests.join)}, status ${each(requests.status)}, checkout ${each(requests.checkout)}, ` +
      `order ${each(requests.order)}; schedule from the CDN ${each(requests.schedule)}`,
  )
  if (crowd.complaints.size > 0) {
    console.log('\nWhat clients complained of:')
    for (const [complaint, times] of [...crowd.complaints].slice(0, 10))
      console.log(`  ${times} x ${complaint}`)
  }
}

function save(options: Options, result: Parameters<typeof reportHtml>[0], crowd: Crowd): void {
  mkdirSync(options.out, { recursive: true })
  writeFileSync(join(options.out, 'report.json'), `${JSON.stringify(result, null, 2)}\n`)
  writeFileSync(join(options.out, 'report.html'), reportHtml(result, crowd.stories))
  console.log(`\nReport: ${join(options.out, 'report.html')}, ${join(options.out, 'report.json')}`)
}

let leaving = false

async function leave(code: number): Promise<never> {
  leaving = true
  await stopEverything().catch(() => {})
  process.exit(code)
}

function fail(why: string): void {
  if (leaving) return
  console.error(`\n${why}`)
  void leave(2)
}

let interrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (interrupted) killEverything()
    interrupted = true
    console.log('\nStopping ..')
    void leave(130)
  })
}

try {
  const good = await rehearse(readOptions())
  console.log(good ? '\nGood.' : '\nNOT good.')
  await leave(good ? 0 : 1)
} catch (error) {
  fail((error as Error).message)
}

export type { Options, Sample }
