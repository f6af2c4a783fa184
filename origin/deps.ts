/** What the parts of one origin process share, made once in main.ts. */

import type { Logger } from 'pino'
import type { Arrivals } from './arrivals.ts'
import type { Checkout } from './checkout.ts'
import type { Config } from './config.ts'
import type { OrderEvents } from './events.ts'
import type { Store } from './gate/redis.ts'
import type { Sql } from './ledger/postgres.ts'
import type { Line } from './line.ts'
import type { ProductWork } from './loop.ts'
import type { Metrics } from './metrics.ts'
import type { Orders } from './orders.ts'
import type { Payments } from './payments/payments.ts'
import type { Sales } from './sales.ts'
import type { Signatures } from './signatures.ts'
import type { FindKey } from './tokens.ts'
import type { UnderWay } from './under-way.ts'

export interface Deps {
  readonly config: Config
  readonly log: Logger
  readonly metrics: Metrics
  readonly sql: Sql
  readonly redis: Store
  readonly sales: Sales
  readonly checkout: Checkout
  readonly underWay: UnderWay
  readonly orders: Orders
  readonly events: OrderEvents
  readonly arrivals: Arrivals
  readonly line: Line
  readonly payments: Payments
  readonly work: ProductWork
  /** Tells the edge to look again at a sale, behind the answer. */
  readonly tellEdge: (sale: string) => void
  readonly signatures: Signatures
  readonly keys: {
    /** Finds the edge's public key. */
    readonly admission: FindKey
    /** Signs and reads order tokens. */
    readonly order: Uint8Array
  }
}
