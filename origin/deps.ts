/** What the parts of one origin process share, made once in main.ts. */

import type { Logger } from 'pino'
import type { SyncKey, TokenKeys } from '../shared/tokens.ts'
import type { Checkout } from './checkout/checkout.ts'
import type { Config } from './config.ts'
import type { LoadShedder } from './http/load-shedder.ts'
import type { Sql } from './ledger/connection.ts'
import type { Metrics } from './lib/metrics.ts'
import type { OrderEvents } from './orders/order-events.ts'
import type { Orders } from './orders/orders.ts'
import type { Payments } from './payments/payments.ts'
import type { Arrivals } from './sales/arrivals.ts'
import type { EdgeNotifier } from './sales/edge-notifier.ts'
import type { QueueReports } from './sales/queue-reports.ts'
import type { Sales } from './sales/sales.ts'
import type { Gates } from './stock/gates.ts'
import type { ProductWork } from './stock/product-work.ts'
import type { Store } from './stock/scripts.ts'

export interface Deps {
  readonly config: Config
  readonly log: Logger
  readonly metrics: Metrics
  readonly sql: Sql
  readonly redis: Store
  readonly sales: Sales
  readonly checkout: Checkout
  readonly gates: Gates
  readonly loadShedder: LoadShedder
  readonly orders: Orders
  readonly events: OrderEvents
  readonly arrivals: Arrivals
  readonly queueReports: QueueReports
  readonly payments: Payments
  readonly work: ProductWork
  readonly edge: EdgeNotifier
  readonly keys: {
    readonly admission: TokenKeys
    readonly order: TokenKeys<SyncKey>
  }
}
