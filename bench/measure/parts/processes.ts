/**
 * Measures what grows with the origin's processes: checkouts with 1, 2 and 4 api processes, and paid orders with 1, 2
 * and 4 workers. A row says how many cores each kind of process uses, so that the limit is the one that has none left:
 * a process of the origin has one at most, and all of them share the machine's.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import type { Server } from '../../../dev/lib/processes.ts'
import type { Answer } from '../../lib/http.ts'
import { closedLoop, contest, flat, type Measured, medianOf, type Next, nowMeasuring } from '../load.ts'
import { cpuSeconds } from '../processor.ts'
import { type Row, row, type Table } from '../rows.ts'
import { checkoutsOf, createSale, endSale, tokensFor } from '../stage.ts'
import type { Bench } from '../table.ts'
import { type LifeStage, onStage } from './life.ts'

const COUNTS = [1, 2, 4]
const BUYERS = 256
/** Sales among which workers share the payments. */
const SALES = 8
const PAID = '{"quantity":1,"payment_method":"pm_ok"}'
const LOOK_EVERY_MS = 50
/** Orders that are not paid by then are counted as wrong. */
const PAID_WITHIN_MS = 120_000
/** A worker that has just started takes its share of the sales meanwhile. */
const SETTLE_MS = 3_000

type During = (work: () => Promise<void>) => Promise<void>

export async function* processes({ rounds, seconds, orders }: Bench): AsyncGenerator<Table> {
  yield* await onStage('api', async (stage) => {
    const { system } = stage
    const fleet = { apis: [system.origin], workers: [await system.addOrigin({ ROLE: 'worker', ...stage.env })] }
    const apis = await growing('api', stage, fleet, rounds, (during) => checkouts(stage, fleet, seconds, during))
    for (const extra of fleet.apis.splice(1)) await extra.stop()
    const workers = await growing('worker', stage, fleet, rounds, (during) => payments(stage, orders, during))
    for (const worker of fleet.workers) await worker.stop()
    return [
      { title: `Checkouts of ${BUYERS} buyers by api processes, one worker`, against: 'of one', rows: apis },
      { title: `Paid orders of ${SALES} sales by workers, one api process`, against: 'of one', rows: workers },
    ]
  })
}

interface Fleet {
  readonly apis: Server[]
  readonly workers: Server[]
}

/** Measures with as many processes of a kind as each count says, one more after the other. */
async function growing(
  role: 'api' | 'worker',
  stage: LifeStage,
  fleet: Fleet,
  rounds: number,
  round: (during: During) => Promise<Measured>,
): Promise<Row[]> {
  const grown = role === 'api' ? fleet.apis : fleet.workers
  const rows: Row[] = []
  let one: Measured | null = null
  for (const count of COUNTS) {
    while (grown.length < count) grown.push(await stage.system.addOrigin({ ROLE: role, ...stage.env }))
    await sleep(SETTLE_MS)
    nowMeasuring(`  ${count} ${role}`)
    const cores = coresOf(stage, fleet)
    const { run } = await contest(rounds, { run: () => round(cores.during) })
    one ??= run
    rows.push(row(`${count} ${role}: ${cores.text()}`, run, one))
  }
  return rows
}

/** Does the work under load, and says how many cores each kind of process used for it. */
function coresOf({ system, measure }: LifeStage, { apis, workers }: Fleet) {
  let text = ''
  const during: During = async (work) => {
    const kinds = {
      api: apis.map(({ pid }) => pid),
      worker: workers.map(({ pid }) => pid),
      Postgres: system.postgres ? [system.postgres.pid] : [],
      Redis: system.redis ? [system.redis.pid] : [],
    }
    const used = () => Object.entries(kinds).map(([kind, pids]) => [kind, cpuSeconds(pids)] as const)
    const [before, own] = [new Map(used()), process.cpuUsage()]
    const { cost, seconds } = await measure(work)
    const { user, system: kernel } = process.cpuUsage(own)
    const cpu = [
      ...used().map(([kind, after]) => [kind, after - (before.get(kind) ?? 0)] as const),
      ['provider', cost.provider / 1e6] as const,
      ['load', (user + kernel) / 1e6] as const,
    ]
    text = `${cpu.map(([kind, spent]) => `${kind} ${(spent / seconds).toFixed(2)}`).join(', ')} cores`
  }
  return { during, text: () => text }
}

/** Durable checkouts, with as many buyers at each api process. */
async function checkouts(stage: LifeStage, { apis }: Fleet, seconds: number, during: During): Promise<Measured> {
  const sale = await createSale(stage)
  const next: Next = checkoutsOf(stage, sale, tokensFor(stage, sale, seconds, { buyers: BUYERS }))
  const buyers = BUYERS / apis.length
  let all: Measured[] = []
  await during(async () => {
    all = await Promise.all(apis.map(({ url }) => closedLoop({ url, pids: [], seconds, next, right: 201 }, buyers)))
  })
  await endSale(stage, sale)
  return { ...medianOf(all), perSecond: all.reduce((sum, { perSecond }) => sum + perSecond, 0) }
}

/** The time from the first checkout until the last order is paid. */
async function payments(stage: LifeStage, orders: number, during: During): Promise<Measured> {
  const sales = await Promise.all(Array.from({ length: SALES }, () => createSale(stage)))
  const texts = sales.map((sale) => checkoutsOf(stage, sale, stage.mint(sale, orders / SALES), () => PAID))
  const sql = postgres(stage.system.databaseUrl, { max: 1, onnotice: () => {} })
  try {
    let turn = 0
    const next: Next = (client) => {
      for (let tried = 0; tried < SALES; tried++) {
        const text = texts[turn++ % SALES]?.(client) ?? null
        if (text !== null) return text
      }
      return null
    }
    const { url } = stage.system.origin
    const paid = async () => {
      const [row] = await sql`
        select count(*)::int as n from orders where sale_id = any(${sales}) and status in ('confirmed', 'fulfilled')`
      return Number(row?.n)
    }
    let told = flat(0)
    const beganMs = performance.now()
    await during(async () => {
      // A 202 is an order too, which is recorded and paid a little later.
      const right = ({ status }: Answer) => status === 201 || status === 202
      told = await closedLoop({ url, pids: [], seconds: PAID_WITHIN_MS / 1000, next, right }, BUYERS)
      while ((await paid()) < orders && performance.now() - beganMs < PAID_WITHIN_MS) await sleep(LOOK_EVERY_MS)
    })
    const seconds = (performance.now() - beganMs) / 1000
    const missing = orders - (await paid())
    const why = missing > 0 ? `${missing} orders were not paid` : told.why
    return { ...flat(orders / seconds), wrong: told.wrong + missing, why }
  } finally {
    await sql.end({ timeout: 1 })
    for (const sale of sales) await endSale(stage, sale)
  }
}
