/** Queues charges that were lost, and refunds, in the transaction that makes them necessary. */
import type { Logger } from 'pino'
import { closeAbout } from '../findings/finding-queries.ts'
import { addJobs } from '../jobs/job-queries.ts'
import type { Queryable } from '../ledger/connection.ts'
import type { ChargeOf, Refund } from '../ledger/payment-statements.ts'
import { insertRefunds } from './payment-queries.ts'

export class PaymentJobs {
  readonly #log: Logger

  constructor(log: Logger) {
    this.#log = log
  }

  addCharges(tx: Queryable, orderIds: readonly string[]): Promise<void> {
    return addJobs(tx, 'charge', jobsOf(orderIds.map((order) => ({ order }))))
  }

  /** Queues refunds, one per charge, and drops the open captures of these charges. Returns the refunds that are new. */
  async addRefunds(tx: Queryable, refunds: readonly Refund[]): Promise<readonly ChargeOf[]> {
    if (refunds.length === 0) return []
    const inserted = await insertRefunds(tx, refunds)
    const charges = refunds.map((r) => r.charge)
    await closeAbout(tx, 'capture_failed', charges, 'to be given back')
    await addJobs(tx, 'refund', jobsOf(inserted))
    for (const { charge, order } of inserted) this.#log.warn({ order, charge }, 'refund queued')
    return inserted
  }
}

const jobsOf = <Data>(owed: readonly Data[]) => owed.map((data) => ({ data }))
