/** Plays one order of events of the shop: a fresh sale, its actors, and then quiet, at which all must be settled. */
import { writeSale } from '../../../origin/sales/sale-queries.ts'
import { Gate } from '../../../origin/stock/gate/gate.ts'
import { addHall, PLACES, SEATS } from '../../lib/hall.ts'
import { saleOf } from '../../lib/samples.ts'
import { type Decisions, ReplayedDecisions, SeededDecisions } from '../decisions.ts'
import { BEGIN_MS, type Fate, Scheduler, type Step } from '../scheduler.ts'
import type { Order } from '../shrink.ts'
import { type Actor, enter, enterAll, type Stage } from './actors.ts'
import { Bank } from './bank.ts'
import { Judge } from './judge.ts'
import { Members, type Round } from './members.ts'
import { actorsFrom, chancesOf, type SaleTerms, termsFrom } from './scenario.ts'
import type { Stores } from './stores.ts'

export interface PlayedShop {
  readonly order: Order<Actor>
  readonly terms: SaleTerms
  readonly steps: readonly Step[]
  /** How many of the steps came before all was left alone. */
  readonly acted: number
  /** The promise that was broken, or what else went wrong. */
  readonly error: Error | undefined
  /** Promised orders that a Redis without a replica has lost, as `appendfsync` says. */
  readonly lost: number
}

const SALE = 'explored'
/** What only changes who goes first. */
const HARMLESS: ReadonlySet<Fate> = new Set(['done', 'held', 'late'])
/** The rounds of a worker while all becomes quiet, and how often each goes. */
const ROUNDS: readonly Round[] = [
  'watches the gate',
  'records intents',
  'sweeps the holds of the gate',
  'sweeps the holds of the ledger',
]
/** The same where somebody pays. */
const PAYMENT_ROUNDS: readonly Round[] = [
  ...ROUNDS,
  'begins payments',
  'ends abandoned charges',
  'runs jobs',
  'compares charges',
]
const MAX_QUIET_ROUNDS = 30
/** A hold is shorter, and so is the lease of a job. */
const QUIET_MS = 11_000

/** Plays the order of a seed. */
export const playSeed = (stores: Stores, seed: number, part: 'checkout' | 'payments'): Promise<PlayedShop> => {
  const decisions = new SeededDecisions(seed, chancesOf(seed, part))
  return play(stores, actorsFrom(seed, part), decisions)
}

/** Plays an order that was recorded. */
export const playOrder = (stores: Stores, { actors, decisions }: Order<Actor>): Promise<PlayedShop> =>
  play(stores, actors, new ReplayedDecisions(decisions))

async function play(stores: Stores, actors: readonly Actor[], decisions: Decisions): Promise<PlayedShop> {
  const terms = termsFrom(decisions.seed)
  const scheduler = new Scheduler(decisions)
  const stage = await stageOf(
    stores,
    scheduler,
    terms,
    actors.some(({ does }) => does === 'operates'),
  )
  const { judge } = stage
  scheduler.onStep = async () => {
    const step = scheduler.steps.at(-1)
    if (step && !HARMLESS.has(step.fate)) judge.isDisturbed = true
    await judge.look()
  }
  let acted = 0
  let error: Error | undefined
  try {
    await begin(stage, decisions)
    enterAll(stage, actors)
    await scheduler.run()
    acted = scheduler.steps.length
    decisions.isCalm = true
    if (!judge.isDisturbed) await judge.lookWhenIdle()
    await untilQuiet(stage, actors.some(pays) ? PAYMENT_ROUNDS : ROUNDS)
    await judge.lookWhenQuiet()
  } catch (reason) {
    error = reason as Error
    acted ||= scheduler.steps.length
  }
  for (const { process } of stage.members.alive()) process.end()
  await scheduler.drain()
  const order = { actors, decisions: decisions.recorded }
  return { order, terms, steps: scheduler.steps, acted, error, lost: judge.lost.size }
}

async function stageOf(stores: Stores, scheduler: Scheduler, terms: SaleTerms, hasOperator: boolean): Promise<Stage> {
  const { sql, gate, blocked } = stores
  await Promise.all([stores.empty(), stores.setClock(BEGIN_MS), gate.begin(BEGIN_MS, terms.hasReplica)])
  const opens_at = new Date(BEGIN_MS - 60_000).toISOString()
  const { limit, holdSeconds } = terms
  const [product] = saleOf(terms.total).products
  const two = { ...product, product_id: 'two', name: 'Two' }
  const products = (terms.has === 'one product' ? [product] : [product, two]) as NonNullable<typeof product>[]
  await writeSale(
    sql,
    SALE,
    saleOf(terms.total, { opens_at, limit_per_visitor: limit, hold_seconds: holdSeconds, products }),
  )
  const counts = products.map(({ product_id }) => ({ product: product_id, available: terms.total, held: 0 }))
  if (terms.has === 'seats') {
    await addHall(sql, SALE)
    counts.push({ product: 'floor', available: PLACES, held: 0 }, { product: 'stalls', available: SEATS, held: 0 })
  }
  if (terms.has === 'codes') {
    await sql`
      insert into products (sale_id, product_id, place, name, unit_price_minor, currency, total, is_promo_code)
      values (${SALE}, '%TEN', 9, 'TEN', 0, 'EUR', 1, true)`
    await sql`insert into promo_codes (sale_id, code, percent) values (${SALE}, 'TEN', 10)`
    counts.push({ product: '%TEN', available: 1, held: 0 })
  }
  await (await new Gate(gate.client, SALE).fence()).open(counts)
  const ledger = { sql, scheduler, isAway: false, changes: 0, blocked }
  const members: Members = new Members({
    scheduler,
    ledger,
    gate,
    get bank() {
      return bank
    },
  })
  const bank = new Bank(scheduler, async (record) => {
    const { charges, process } = await members.of('api 1')
    await process.ask(() => charges.report(record))
  })
  const judge = new Judge({
    sale: SALE,
    limit,
    hasOperator,
    ledger: {
      ...ledger,
      sql: stores.watch,
      get changes() {
        return ledger.changes
      },
    },
    gate,
    bank,
  })
  scheduler.onTime = async (nowMs) => {
    await Promise.all([stores.setClock(nowMs), gate.setClock(nowMs)])
    for (const { sales } of members.alive()) if (sales.readAgoMs() > 1_000) void sales.refresh().catch(() => {})
  }
  return { scheduler, ledger, gate, bank, members, judge, sale: SALE }
}

/** Has the processes that buyers come to read the sales, which nothing disturbs. */
async function begin({ members, scheduler }: Stage, decisions: Decisions): Promise<void> {
  decisions.isCalm = true
  for (const name of ['api 1', 'api 2']) void members.of(name)
  await scheduler.run()
  scheduler.steps.splice(0)
  decisions.isCalm = false
}

const pays = (actor: Actor) => actor.does === 'buys' && (actor.method !== null || actor.after === 'pays')

/** Lets workers work, and time pass, until nothing is left to do. */
async function untilQuiet(stage: Stage, worker: readonly Round[]): Promise<void> {
  const { scheduler, gate, ledger } = stage
  gate.isAway = false
  ledger.isAway = false
  const rounds = async (names: readonly Round[]) => {
    for (const round of names) {
      void enter(stage, { does: 'works', round, at: 'worker 1' })
      await scheduler.run()
    }
  }
  for (let times = 0; times < MAX_QUIET_ROUNDS; times++) {
    await rounds(worker)
    if (await isSettled(stage)) break
    await scheduler.moveTime(QUIET_MS)
    await scheduler.run()
  }
  await rounds(['reconciles', 'watches the gate'])
}

/** True once no order, job, intent or charge waits for anything. */
async function isSettled({ ledger: { sql }, gate, sale, bank }: Stage): Promise<boolean> {
  const [row] = await sql<{ open: boolean }[]>`
    select exists (select from orders where status in ('reserved', 'paying')) or exists (select from jobs)
      or exists (select from captures where captured_at is null)
      or exists (select from refunds where refunded_at is null)
      as open`
  const isOpen = [...bank.charges.values()].some(({ status }) => status === 'authorized')
  return row?.open === false && !isOpen && (await gate.client.hlen(`{${sale}}:unrecorded`)) === 0
}
