/**
 * Measures the life of a sold order from the turn to the capture: the cost of each part for each program, over many
 * orders one part after the other; the same at a leisurely rate and at saturation, all at once; and the cost of a sale
 * without visitors. The provider of payments with its records runs separately, and its cost is shown separately. The
 * floor of a part is the necessary requests, to a bare Worker that passes checkouts on to the same origin and to a bare
 * endpoint, and the necessary writes, in batches of 100.
 */
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { freePort, type Server } from '../../../dev/lib/processes.ts'
import { startPostgres } from '../../../dev/servers/postgres.ts'
import { Histogram } from '../../lib/histogram.ts'
import { HttpClient, requestText } from '../../lib/http.ts'
import { admin } from '../../lib/operator.ts'
import { openBackground } from '../background.ts'
import { type Buyer, Buyers, STEPS } from '../buyer-requests.ts'
import { flat, type Measured, nowMeasuring } from '../load.ts'
import { type Cost, inAll, type Measure, measureBy, NOTHING, type Program, sumOf, times } from '../programs.ts'
import { type Aim, type Row, row, type Table } from '../rows.ts'
import {
  checkoutsOf,
  createSale,
  type Stage,
  startBareWorker,
  startProvider,
  startServer,
  startStage,
} from '../stage.ts'
import type { Bench } from '../table.ts'
import { floorScript } from './edge.ts'

const RATE = 100_000
const CONNECTIONS = 64
const SATURATING = 256
/** The number exceeds what is paid at saturation. */
const PAID_PER_SECOND = 1_500
/** At this rate a batch has one or two orders, so that each of them pays for nearly all that it needs. */
const LEISURELY = 130
/** A closed loop of whole lives. The first of each buyer is a warm-up, and each takes some hundred milliseconds. */
const SATURATED = { warmMs: 3_000, rounds: 8 }
/**
 * The cost of other work in this time is subtracted, because an origin compares and counts even if nothing happens.
 */
const QUIET_MS = 5_000
/** The work that follows a start takes this long; the engine frees its garbage half a minute later. */
const CALM_MS = 45_000
/** The provider's webhooks arrive after the work. */
const AFTER_MS = 1_000
/** The share of orders that warm up before the others count. */
const WARM_SHARE = 0.2
const BATCH = 100
const PASSES = [
  'checkout and its page',
  'request to pay and its page',
  'stream of changes',
  "a reload of the order's page",
]
const SELLING = 'until the receipt'
const MUST = 'what must be sent and written'

const AIMS = {
  saturation: { paid: { perSecond: 500 }, stores: { cpuMicros: 1_000 }, edge: { cpuMicros: 1_500 } },
  leisure: { stores: { cpuMicros: 4_000 } },
  quiet: { corePercent: 3 },
  pass: { cpuRatio: 0.5 },
} as const

export interface LifeStage extends Stage {
  readonly measure: Measure
  /** The origin's settings in addition to its stores and keys. */
  readonly env: Readonly<Record<string, string>>
}

export async function* life({ orders, seconds }: Bench): AsyncGenerator<Table> {
  const rows = await onStage('api', (stage) => parts(stage, orders))
  yield { title: `One sold order, over ${orders} orders`, against: '', rows }
  yield {
    title: 'A request at the edge, of a bare Worker that passes it on to the same origin',
    against: 'ratio',
    rows: rows.flatMap(passOf),
  }
  const { quiet, ...at } = await onStage('all', async (stage) => ({
    quiet: await nobodyThere(stage),
    leisure: await sold(stage, seconds * SATURATED.rounds, LEISURELY),
    saturation: await sold(stage, seconds * SATURATED.rounds),
  }))
  const floor = rows.find(({ what }) => what === SELLING)?.floor?.measured
  const selling = (title: string, sold: Measured, aims: { paid?: Aim; stores?: Aim; edge?: Aim }): Table => {
    const of = (what: string, aim: Aim | undefined, ...programs: Program[]) => {
      const by = ({ cpuOf = NOTHING, perSecond }: Measured) => ({
        ...flat(perSecond),
        cpuMicros: inAll(cpuOf, programs),
      })
      return row(what, by(sold), null, aim, floor && { what: MUST, measured: by(floor) })
    }
    return {
      title,
      against: '',
      rows: [
        row('from the turn to the receipt', sold, null, aims.paid),
        of('origin, Postgres and Redis', aims.stores, 'origin', 'Postgres', 'Redis'),
        of('the edge', aims.edge, 'edge'),
      ],
    }
  }
  yield selling(`Sold orders at saturation, ${SATURATING} buyers`, at.saturation, AIMS.saturation)
  yield selling(`Sold orders at ${LEISURELY} a second`, at.leisure, AIMS.leisure)
  yield { title: 'A sale open, each second', against: '', rows: [row('nobody there', quiet, null, AIMS.quiet)] }
}

/** The cost of one request at the edge, compared with a bare Worker that passes it on. */
function passOf({ what, measured, floor }: Row): Row[] {
  const [ours, bare] = [measured.cpuOf?.edge ?? 0, floor?.measured.cpuOf?.edge ?? 0]
  if (!PASSES.includes(what)) return []
  const each = (cpuMicros: number): Measured => ({ ...flat(1e6 / cpuMicros), cpuMicros })
  return [row(what, each(ours), each(bare), AIMS.pass)]
}

/** Starts a separate system whose origin has this role, with the provider in its own processes. */
export async function onStage<T>(role: 'api' | 'all', use: (stage: LifeStage) => Promise<T>): Promise<T> {
  const servers: { stop(): Promise<void> }[] = []
  const started = <S extends { stop(): Promise<void> }>(server: S): S => {
    servers.push(server)
    return server
  }
  try {
    const [providerPort, smtpPort] = [await freePort(), await freePort()]
    const env = {
      SANDBOX_URL: `http://127.0.0.1:${providerPort}`,
      WEBHOOK_SECRET: randomUUID(),
      SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
      MAIL_FROM: 'shop@example.com',
    }
    started(await startServer('smtp', { SMTP_PORT: String(smtpPort) }))
    const stage = await startStage({ ROLE: role, ...env })
    const { system } = stage
    started(system)
    const records = started(await startPostgres())
    const provider = started(
      await startProvider(providerPort, {
        DATABASE_URL: records.url,
        WEBHOOK_URL: `${system.originUrl}/webhooks/sandbox`,
        WEBHOOK_SECRET: env.WEBHOOK_SECRET,
      }),
    )
    const measure = measureBy({
      edge: [system.edge.pid],
      origin: [system.origin.pid],
      Postgres: [system.postgres?.pid],
      Redis: [system.redis?.pid],
      provider: [provider.pid, records.pid],
    })
    return await use({ ...stage, env, measure })
  } finally {
    for (const server of servers.toReversed()) await server.stop()
  }
}

const measured = (cost: Cost, perSecond = 0): Measured => ({
  ...flat(perSecond),
  cpuMicros: inAll(cost),
  cpuOf: cost,
})

// -- Part by part ---------------------------------------------------------------------------------------------------

async function parts(stage: LifeStage, orders: number): Promise<Row[]> {
  const { system, measure, env } = stage
  const { passed, sent, inserted, updated, turned } = await measureFloors(stage, orders)
  const receiver = await startServer('receiver')
  await admin(system, 'POST', '/webhooks', { url: receiver.url, events: ['*'] })
  const background = await openBackground(system, env)
  const live = async (count: number): Promise<Row[]> => {
    const sale = await createSale(stage, { rate: RATE, mails: true })
    const buyers = await Buyers.join(stage, sale, count, CONNECTIONS)
    nowMeasuring('  what goes on besides')
    await sleep(AFTER_MS)
    const quiet = await measure(() => sleep(QUIET_MS))
    const rows: Row[] = []
    const part = async (what: string, floor: readonly Cost[], work: () => Promise<unknown>, isOrigin = false) => {
      nowMeasuring(`  ${what}, of ${count} orders`)
      const { cost, seconds } = await measure(work, { isOrigin })
      const own = sumOf([cost, times(quiet.cost, -seconds / quiet.seconds)])
      rows.push(row(what, measured(times(own, 1 / count), count / seconds), null, null, floorOf(floor)))
    }
    const sum = (what: string) => {
      const parts = rows.filter((part) => part.what !== SELLING)
      const costs = parts.map(({ measured: { cpuOf = NOTHING } }) => cpuOf)
      const floors = parts.map(({ floor }) => floor?.measured.cpuOf ?? NOTHING)
      rows.push(row(what, measured(sumOf(costs)), null, null, floorOf(floors)))
    }
    const here = true
    // The work includes the provider's webhooks.
    const paying = (work: () => Promise<unknown>) => () => work().then(() => sleep(AFTER_MS))
    await part('turn and its page', [turned], () => buyers.each('turn'))
    await part('checkout and its page', [passed, inserted, inserted], () => buyers.each('checkout'))
    await part('request to pay and its page', [passed, updated, inserted], () => buyers.each('pay'))
    await part('charge and its webhook', [sent, updated, inserted, inserted], paying(background.charges), here)
    await part('stream of changes', [passed], () => buyers.each('stream'))
    sum(SELLING)
    await part('capture and its webhook', [sent, updated], paying(background.captures), here)
    await part('comparison with the provider', [], background.comparison, here)
    await part('search', [inserted, inserted], background.search, here)
    await part('counts of the report', [], background.counts, here)
    await part('webhooks, written', [inserted, inserted, inserted], background.webhookMessages, here)
    await part('webhooks, sent', [sent, sent, sent], background.webhooks, here)
    await part('mail', [inserted, sent, updated], background.mails, here)
    sum('in all')
    await part("a reload of the order's page", [passed], () => buyers.each('page'))
    await part('instead of the stream: one poll', [passed], () => buyers.each('poll'))
    buyers.close()
    return rows
  }
  try {
    // The code is warmed up first.
    await live(Math.ceil(orders * WARM_SHARE))
    return await live(orders)
  } finally {
    await background.close()
    await receiver.stop()
  }
}

const floorOf = (costs: readonly Cost[]) => ({ what: MUST, measured: measured(sumOf(costs)) })

/** A bare Worker that passes each request on. */
const passOnTo = (url: string) => `export default {
  fetch(request) {
    const { pathname } = new URL(request.url)
    return pathname === '/' ? new Response('ok') : fetch('${url}' + pathname, request)
  },
}`

/** The minimum cost of each kind of work: a request passed on, one sent, a row written in a batch, and a turn. */
async function measureFloors(stage: LifeStage, count: number) {
  const { system } = stage
  nowMeasuring('  the floors')
  const bare = await startServer('bare-hono')
  const passing = await startBareWorker(passOnTo(system.originUrl))
  const signing = await startBareWorker(floorScript(stage), 'Visitors')
  const sql = postgres(system.databaseUrl, { max: 1, onnotice: () => {} })
  const measure = measureBy({
    edge: [passing.pid, signing.pid],
    origin: [bare.pid],
    Postgres: [system.postgres?.pid],
  })
  const least = async (work: () => Promise<unknown>, by = measure, isOrigin = false) => {
    // The code is warmed up first.
    await work()
    return times((await by(work, { isOrigin })).cost, 1 / count)
  }
  const here = measureBy({ Postgres: [system.postgres?.pid] })
  const requests = async (to: Server, textOf: (client: HttpClient) => string | null) => {
    const client = new HttpClient({ url: to.url, connections: CONNECTIONS })
    const answers = await Promise.all(Array.from({ length: count }, () => client.request(textOf(client) ?? '')))
    client.close()
    const wrong = answers.find(({ status }) => status !== 201)
    if (wrong) throw new Error(`A bare server responded ${wrong.status}: ${wrong.body.slice(0, 200)}`)
  }
  const posts = (to: Server, path: string) => () =>
    requests(to, ({ host }) => requestText('POST', path, host, ['accept: application/json'], '{"quantity":1}'))
  const checkouts = async () => {
    const sale = await createSale(stage, { rate: RATE })
    await requests(passing, checkoutsOf(stage, sale, stage.mint(sale, count)))
  }
  const batches = async (write: (ids: string[]) => Promise<unknown>) => {
    for (let at = 0; at < count; at += BATCH) await write(ids.slice(at, at + BATCH))
  }
  let ids: string[] = []
  const insert = () => {
    ids = Array.from({ length: count }, () => randomUUIDv7())
    const text = 'x'.repeat(200)
    return batches((some) => sql`insert into bench.rows select id, ${text} from unnest(${some}::uuid[]) id`)
  }
  const update = () => batches((some) => sql`update bench.rows set text = 'y' || text where id = any(${some}::uuid[])`)
  try {
    await sql.unsafe('create schema if not exists bench; create table bench.rows (id uuid primary key, text text)')
    const served = await least(posts(bare, '/sales/bench/checkout'))
    return {
      // The bare Worker passes requests on to a working origin, so it is as busy as the edge is.
      passed: { ...served, edge: (await least(checkouts)).edge },
      turned: await least(posts(signing, '/sales/bench/queue')),
      // The other side belongs to the provider or the shop.
      sent: await least(posts(bare, '/sales/bench/checkout'), here, true),
      inserted: await least(insert, here, true),
      updated: await least(update, here, true),
    }
  } finally {
    await sql`drop schema if exists bench cascade`
    await sql.end({ timeout: 2 })
    for (const server of [passing, signing, bare]) await server.stop()
  }
}

// -- All at once ----------------------------------------------------------------------------------------------------

/** Buyers go from the turn to the receipt, as many at a time as saturate the system, or so many a second. */
async function sold(stage: LifeStage, seconds: number, perSecond?: number): Promise<Measured> {
  const { measure } = stage
  const sale = await createSale(stage, { rate: RATE })
  const crowd = Math.ceil((perSecond ?? PAID_PER_SECOND) * (seconds + SATURATED.warmMs / 1000))
  nowMeasuring(`  ${crowd} join`)
  const buyers = await Buyers.join(stage, sale, crowd, SATURATING)
  nowMeasuring(`  ${perSecond ? `${perSecond} buyers a second` : `${SATURATING} buyers at a time`}`)
  const histogram = new Histogram()
  let [paid, isOver] = [0, false]
  const live = async (buyer: Buyer) => {
    const beganMs = performance.now()
    for (const step of STEPS) await buyers.take(step, buyer)
    histogram.add(performance.now() - beganMs)
    paid++
  }
  const waiting = buyers.all.values()
  const oneAfterAnother = async () => {
    for (const buyer of waiting) {
      if (isOver) return
      await live(buyer)
    }
  }
  const evenly = async (perSecond: number) => {
    const beganMs = performance.now()
    const lives: Promise<void>[] = []
    for (const buyer of waiting) {
      if (isOver) break
      lives.push(live(buyer))
      await sleep(Math.max(0, beganMs + (lives.length * 1000) / perSecond - performance.now()))
    }
    await Promise.all(lives)
  }
  const selling = perSecond ? evenly(perSecond) : Promise.all(Array.from({ length: SATURATING }, oneAfterAnother))
  await Promise.race([selling, sleep(SATURATED.warmMs)])
  const before = paid
  const { cost, seconds: lasted } = await measure(() => Promise.race([selling, sleep(seconds * 1000)]))
  const count = paid - before
  isOver = true
  await selling
  buyers.close()
  return { ...measured(times(cost, 1 / count), count / lasted), ms: histogram.summary() }
}

/** Measures a sale without visitors. */
async function nobodyThere(stage: LifeStage): Promise<Measured> {
  await createSale(stage)
  nowMeasuring('  a sale with nobody there')
  await sleep(CALM_MS)
  const { cost, seconds } = await stage.measure(() => sleep(2 * QUIET_MS))
  return measured(times(cost, 1 / seconds))
}
