/** What is watched, in Prometheus's words: one registry per process, read at /metrics. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  return {
    registry,
    checkouts: new Counter({
      name: 'checkouts_total',
      help: 'Checkout calls by how they were answered; calls to sales that there are not under one name',
      labelNames: ['sale', 'outcome'],
      registers,
    }),
    checkoutSeconds: new Histogram({
      name: 'checkout_seconds',
      help: 'Time from a checkout call to its answer',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers,
    }),
    recordSeconds: new Histogram({
      name: 'record_batch_seconds',
      help: 'Time of one batch of reservations in the ledger, locks and commit included',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    recordSize: new Histogram({
      name: 'record_batch_size',
      help: 'Reservations in one batch',
      buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500],
      registers,
    }),
    degraded: new Counter({
      name: 'degraded_total',
      help: 'Checkouts that went on without a store',
      labelNames: ['without'],
      registers,
    }),
    orders: new Counter({
      name: 'order_transitions_total',
      help: 'Orders by the status they came to',
      labelNames: ['sale', 'status'],
      registers,
    }),
    payments: new Counter({
      name: 'payment_attempts_total',
      help: 'Attempts to charge by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    refunds: new Counter({
      name: 'refund_attempts_total',
      help: 'Attempts to give a charge back by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    intents: new Gauge({
      name: 'intents_waiting',
      help: 'Intents in the stream that no one has recorded yet',
      labelNames: ['sale', 'product'],
      registers,
    }),
    findings: new Counter({
      name: 'findings_total',
      help: 'What was found to be other than it should be; without a sale where it is of none',
      labelNames: ['sale', 'kind'],
      registers,
    }),
    drift: new Gauge({
      name: 'stock_drift_units',
      help: 'Units by which the gate differs from the ledger; must be 0 when nothing is in flight',
      labelNames: ['sale', 'product'],
      registers,
    }),
    oversold: new Gauge({
      name: 'oversold_units',
      help: 'Live units beyond the total; must be 0',
      labelNames: ['sale', 'product'],
      registers,
    }),
    stock: new Gauge({
      name: 'stock_units',
      help: 'Units of a product by state, as the ledger has them',
      labelNames: ['sale', 'product', 'state'],
      registers,
    }),
  }
}
