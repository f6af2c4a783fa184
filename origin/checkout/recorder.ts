/**
 * Records reservations in batches, each in one transaction of the exact gate, and chooses the seats of those who
 * leave it to the ledger.
 */

import type { Problem } from '../../shared/problem.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Queryable } from '../ledger/connection.ts'
import { type Quoted, type RecordVerdict, record } from '../ledger/record.ts'
import type { WarmConnections } from '../ledger/warm-connections.ts'
import { BatcherByKey } from '../lib/batcher.ts'
import type { Runtime } from '../lib/runtime.ts'
import { traced } from '../lib/tracing.ts'
import type { Arrivals } from '../queue/arrivals.ts'
import type { Sales } from '../sales/sales.ts'
import { bitsOf } from '../seats/bits.ts'
import { type CheckoutReservation, chooseQuoted } from '../seats/cart-choice.ts'
import type { Chart } from '../seats/chart.ts'
import { Free } from '../seats/free.ts'
import { takenSeats } from '../seats/seat-queries.ts'
import { quotedOf } from '../stock/gate/verdicts.ts'

/** Orders in one transaction: enough to pay for the commit many times over, few enough to hold the row briefly. */
const RECORD_BATCH = 500
/** Reservations waiting for the ledger; more get try-again, and keep their place. */
const RECORD_QUEUE = 5_000

export type Recorder = BatcherByKey<CheckoutReservation, RecordVerdict>

export interface RecorderDeps {
  /** Connections for recording orders. */
  readonly warm: WarmConnections
  readonly sales: Sales
  readonly arrivals: Pick<Arrivals, 'demand' | 'demandForUses'>
  readonly metrics: Metrics
  /** Left out: the machine's. */
  readonly runtime?: Runtime
}

export const withChosen = (r: CheckoutReservation, quoted: Quoted): CheckoutReservation =>
  quoted.cart ? { ...r, ...quoted, product: quoted.cart[0]?.product ?? r.product } : r

/** Chooses seats for those whose carts have none yet, from what the ledger has free. */
async function chooseSeats(
  sql: Queryable,
  saleId: string,
  batch: readonly CheckoutReservation[],
): Promise<readonly (CheckoutReservation | Problem)[]> {
  if (!batch.some(({ choice, cart }) => choice && !cart)) return batch
  const taken = bitsOf(await takenSeats(sql, saleId))
  const frees = new Map<Chart, Free>()
  return batch.map((r) => {
    if (!r.choice || r.cart) return r
    const { chart } = r.choice
    const free = frees.get(chart) ?? new Free(chart, taken)
    frees.set(chart, free)
    const quoted = chooseQuoted(r.choice, r.quote, free)
    return 'type' in quoted ? quoted : withChosen(r, quoted)
  })
}

/**
 * Chooses and records. For what cannot be sold at the price of its seats the ledger is not asked, or else only to
 * note the refusal, as that of a cart which nothing fits.
 */
async function recordChosen(
  sql: Queryable,
  saleId: string,
  batch: readonly CheckoutReservation[],
  noteRefusals: boolean,
  demand: readonly number[],
): Promise<RecordVerdict[]> {
  const all = await chooseSeats(sql, saleId, batch)
  if (all === batch) return record(sql, saleId, batch, noteRefusals, demand)
  const asked = all.map((one, i): CheckoutReservation | undefined => {
    if (!('type' in one)) return one
    return noteRefusals ? { ...(batch[i] as CheckoutReservation), cart: [] } : undefined
  })
  const some = asked.filter((one) => one !== undefined)
  const recorded = (some.length > 0 ? await record(sql, saleId, some, noteRefusals, demand) : []).values()
  return all.map((one, i): RecordVerdict => {
    const verdict = asked[i] && recorded.next().value
    // The key already has an order, which is the answer although the price changed.
    if ('type' in one) return verdict?.verdict === 'replay' ? verdict : { verdict: 'priced_out', problem: one }
    if (!verdict) throw new Error('a reservation has no verdict')
    return verdict.verdict === 'recorded' ? { ...verdict, chosen: quotedOf(one) } : verdict
  })
}

const areRecorded = (verdicts: readonly RecordVerdict[]) =>
  verdicts.every(({ verdict }) => verdict === 'recorded' || verdict === 'replay')

/**
 * Records reservations in batches. A sale's batches follow each other: those who would wait join a larger one
 * instead.
 */
export function recorder({ warm, sales, arrivals, metrics, runtime }: RecorderDeps, noteRefusals: boolean): Recorder {
  const recordAll = async (sale: string, batch: readonly CheckoutReservation[]) => {
    metrics.recordSize.observe(batch.length)
    const done = metrics.recordSeconds.startTimer()
    try {
      const row = sales.get(sale)
      const demand = row ? arrivals.demand(row) : []
      const recordWith = (notes: boolean) => (sql: Queryable) => recordChosen(sql, sale, batch, notes, demand)
      // An order and its key are recorded once, so the second try finds what the first one has recorded. What it
      // refuses it notes: a first try that arrives later is refused as well, as its buyer was told.
      const again = { work: recordWith(true), isFinal: areRecorded }
      const recording = () => warm.use(recordWith(noteRefusals), again)
      const verdicts = await traced('record in ledger', recording, { 'batch.size': batch.length })
      const recorded = verdicts.filter(({ verdict }) => verdict === 'recorded').length
      if (recorded > 0) metrics.orders.inc({ sale, status: 'reserved' }, recorded)
      return verdicts
    } catch (error) {
      sales.writes.heard(error)
      throw error
    } finally {
      done()
    }
  }
  return new BatcherByKey({ size: RECORD_BATCH, queue: RECORD_QUEUE }, recordAll, runtime)
}
