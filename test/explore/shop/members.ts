/**
 * The processes of the explored shop, each composed of the real parts on explored stores. One that ended begins anew
 * when it is needed next, with nothing of its memory.
 */
import { pino } from 'pino'
import { createMetrics } from '../../../origin/base/metrics.ts'
import type { VoucherSource } from '../../../origin/checkout/cart/vouchers.ts'
import { Checkout } from '../../../origin/checkout/checkout.ts'
import { JobRunner } from '../../../origin/jobs/job-runner.ts'
import { WarmConnections } from '../../../origin/ledger/warm-connections.ts'
import { gateSweeps, sweepLedger } from '../../../origin/orders/hold-sweeper.ts'
import { OrderChanges } from '../../../origin/orders/order-changes.ts'
import { Orders } from '../../../origin/orders/orders.ts'
import { UNLIMITED } from '../../../origin/payments/call-budget.ts'
import { Charges } from '../../../origin/payments/charges.ts'
import { Outbox } from '../../../origin/payments/outbox.ts'
import { PaymentJobs } from '../../../origin/payments/payment-jobs.ts'
import { PromoCodes } from '../../../origin/promo-codes/promo-codes.ts'
import { SaleMemory } from '../../../origin/sales/sale-memory.ts'
import { SaleWork } from '../../../origin/sales/sale-work.ts'
import { Sales } from '../../../origin/sales/sales.ts'
import { Halls } from '../../../origin/seats/halls.ts'
import { Gates } from '../../../origin/stock/gate/gate.ts'
import { recordAllIntents } from '../../../origin/stock/intent-recorder.ts'
import { Reconciler } from '../../../origin/stock/reconciler.ts'
import type { Process, Scheduler } from '../scheduler.ts'
import type { Bank } from './bank.ts'
import type { GateWorld } from './gate-port.ts'
import { type LedgerWorld, ledgerOf } from './ledger-port.ts'

const log = pino({ level: process.env.EXPLORE_LOG ?? 'silent' })
const metrics = createMetrics()
/** A charge waits for its buyer for so long, where its hold is shorter. */
export const ACTION_SECONDS = 20

export interface World {
  readonly scheduler: Scheduler
  readonly ledger: LedgerWorld
  readonly gate: GateWorld
  readonly bank: Bank
}

export type Member = ReturnType<typeof memberOf>

/** One process with all roles: which of them it plays is up to the actors. */
export function memberOf(world: World, name: string) {
  const process: Process = world.scheduler.process(name)
  const { runtime } = process
  const sql = ledgerOf(world.ledger, process)
  const redis = world.gate.connection(process)
  const provider = world.bank.of(process)
  const memory = new SaleMemory()
  const sales = new Sales(sql, runtime)
  const gates = new Gates(redis, memory, runtime)
  const work = new SaleWork(undefined, runtime)
  const halls = new Halls(sql, memory)
  const vouchers: readonly VoucherSource[] = [new PromoCodes(sql, runtime)]
  const warm = new WarmConnections(sql, () => sql, runtime)
  const arrivals = { demand: () => [], demandForUses: () => 0 }
  const base = { sql, gates, sales, memory, metrics, log, runtime }
  const checkout = new Checkout({ ...base, warm, halls, vouchers, arrivals: arrivals as never })
  const jobs = new PaymentJobs(log)
  const changes = new OrderChanges(redis, log, runtime)
  const orders = new Orders({ ...base, changes, charges: jobs, actionSeconds: ACTION_SECONDS })
  const redisWatch = { evicting: null, refusal: null }
  const reconciler = new Reconciler({ ...base, work, redisWatch, refunds: jobs })
  const unitsReturned = (returned: readonly { readonly sale_id: string }[]) => reconciler.unitsReturned(returned)
  const paid = { ...base, jobs, provider, calls: UNLIMITED, unitsReturned, nowMs: () => sales.nowMs() }
  const [captures, refunds] = [new Outbox('capture', paid), new Outbox('refund', paid)]
  const returnUrl = () => 'https://shop.example'
  const charges = new Charges({
    ...paid,
    resume: (_noted, _name, work) => work(),
    sources: [provider],
    orders,
    captures,
    refunds,
    returnUrl,
  })
  const runner = new JobRunner({ sql, log, runtime }, [charges, captures, refunds])
  const deps = { ...base, work, orders }
  const sweepGates = gateSweeps(deps)
  /** What a worker does at intervals, by the names of its rounds. */
  const rounds = {
    'records intents': () => recordAllIntents(deps),
    'sweeps the holds of the gate': () => sweepGates(),
    'sweeps the holds of the ledger': () => sweepLedger(deps),
    'watches the gate': () => reconciler.watch(),
    reconciles: () => reconciler.round(),
    'runs jobs': async () => {
      await runner.round()
      await runner.drain()
    },
    'begins payments': () => charges.beginPayments(),
    'ends abandoned charges': () => charges.endOverdueActions(),
    'compares charges': () => charges.compare(),
    'resumes what is forgotten': async () => {
      for (const owed of [charges, captures, refunds]) await owed.resume()
    },
  }
  const begun = process.ask(() => sales.refresh().catch(() => {}))
  return { process, begun, sql, sales, gates, checkout, orders, reconciler, charges, jobs, rounds }
}

export type Round = keyof Member['rounds']

/** The members of a world by name, each begun when it is first needed. */
export class Members {
  readonly #world: World
  readonly #members = new Map<string, Member>()

  constructor(world: World) {
    this.#world = world
  }

  async of(name: string): Promise<Member> {
    let member = this.#members.get(name)
    if (!member?.process.isAlive) {
      member = memberOf(this.#world, name)
      this.#members.set(name, member)
    }
    await member.begun
    return member.process.isAlive ? member : this.of(name)
  }

  /** The members that run: each reads the sales again as time goes on. */
  alive(): Member[] {
    return [...this.#members.values()].filter(({ process }) => process.isAlive)
  }
}
