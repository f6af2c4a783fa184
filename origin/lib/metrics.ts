/**
 * What is watched, in Prometheus's words: one registry per process, read at /metrics. What a process counts, it counts for
 * ever, but of a sale until a day after the last of it; what it sees of others, it says for as long as it keeps looking.
 */
import {
  Counter,
  type CounterConfiguration,
  collectDefaultMetrics,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type LabelValues,
  Registry,
} from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

/** What is seen every few seconds. */
const FADES_MS = 30_000
/** Orders are counted every half a minute. */
const COUNTED_FADES_MS = 90_000
/** The edge looks at a sale every second. */
export const LINE_FADES_MS = 10_000
/** Mostly that sale is over: a year of sales would make every reading slow. */
const SALE_FADES_MS = 24 * 3_600_000

/** `stores` says of each store whether it answers this process at the moment. */
export function createMetrics(stores: () => Readonly<Record<string, boolean>> = () => ({})) {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  return {
    registry,
    checkouts: ofSale({
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
    orders: ofSale({
      name: 'order_transitions_total',
      help: 'Orders by the status they came to, and for what reason where there is one',
      labelNames: ['sale', 'status', 'reason'],
      registers,
    }),
    payments: new Counter({
      name: 'payment_attempts_total',
      help: 'Attempts to authorize a charge by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    captures: new Counter({
      name: 'capture_attempts_total',
      help: 'Attempts to take the money of a charge by outcome; gone where it is not authorized any more',
      labelNames: ['outcome'],
      registers,
    }),
    refunds: new Counter({
      name: 'refund_attempts_total',
      help: 'Attempts to give a charge back by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    intents: fading(FADES_MS, {
      name: 'intents_waiting',
      help: 'Intents in the stream that no one has recorded yet',
      labelNames: ['sale', 'product'],
      registers,
    }),
    findings: ofSale({
      name: 'findings_total',
      help: 'What was found to be other than it should be; without a sale where it is of none',
      labelNames: ['sale', 'kind'],
      registers,
    }),
    drift: fading(FADES_MS, {
      name: 'stock_drift_units',
      help: 'Units that the gate has too many of a state, by the ledger, or too few; must be 0 when nothing is in flight',
      labelNames: ['sale', 'product', 'state'],
      registers,
    }),
    oversold: fading(COUNTED_FADES_MS, {
      name: 'oversold_units',
      help: 'Live units beyond the total; must be 0',
      labelNames: ['sale', 'product'],
      registers,
    }),
    stock: fading(FADES_MS, {
      name: 'stock_units',
      help: 'Units of a product by state, as the ledger has them',
      labelNames: ['sale', 'product', 'state'],
      registers,
    }),
    gateOpen: fading(FADES_MS, {
      name: 'gate_open',
      help: '1 while the fast gate of a product is in use, 0 while the exact gate serves alone',
      labelNames: ['sale', 'product'],
      registers,
    }),
    storeUp: new Gauge({
      name: 'store_up',
      help: '1 while a store (ledger, redis) answers this process, 0 while it does not; either suffices to serve',
      labelNames: ['store'],
      registers,
      collect() {
        for (const [store, isUp] of Object.entries(stores())) this.set({ store }, isUp ? 1 : 0)
      },
    }),
    redisMemoryUsed: fading(FADES_MS, {
      name: 'redis_memory_used_bytes',
      help: 'Memory that a node of Redis uses',
      labelNames: ['node'],
      registers,
    }),
    redisMemoryMax: fading(FADES_MS, {
      name: 'redis_memory_max_bytes',
      help: 'Memory that a node of Redis may use, its maxmemory; 0 where it has no limit',
      labelNames: ['node'],
      registers,
    }),
    actorFailures: new Counter({
      name: 'actor_failures_total',
      help: 'Rounds that failed, of what happens without a call',
      labelNames: ['actor'],
      registers,
    }),
    actorSuccess: new Gauge({
      name: 'actor_last_success_timestamp_seconds',
      help: 'When the last round ended that did not fail, in seconds since the epoch; at first, when the actor started',
      labelNames: ['actor'],
      registers,
    }),
    arrivals: fading(LINE_FADES_MS, {
      name: 'arrivals',
      help: 'Ticket numbers whose first checkout call has come',
      labelNames: ['sale'],
      registers,
    }),
    hopeful: fading(LINE_FADES_MS, {
      name: 'hopeful',
      help: 'Visitors who found all units in carts, and still ask',
      labelNames: ['sale'],
      registers,
    }),
    queueWaiting: fading(LINE_FADES_MS, {
      name: 'queue_waiting',
      help: 'Numbers that were given out and are not called yet, as the edge tells',
      labelNames: ['sale'],
      registers,
    }),
    queueWait: fading(LINE_FADES_MS, {
      name: 'queue_wait_seconds',
      help: 'Time until the last in line is called, as the line moves now; none while it stands',
      labelNames: ['sale'],
      registers,
    }),
    queueWaitRatio: fading(LINE_FADES_MS, {
      name: 'queue_wait_ratio',
      help: 'Time that a turn took to come, lately, over the time its holder was told; 1 is exact, none until one was watched',
      labelNames: ['sale'],
      registers,
    }),
    admissionRate: fading(LINE_FADES_MS, {
      name: 'admission_rate_per_second',
      help: 'Positions that the edge calls a second now',
      labelNames: ['sale'],
      registers,
    }),
    admissionRateTarget: fading(LINE_FADES_MS, {
      name: 'admission_rate_target_per_second',
      help: 'Positions that are to be called a second, as configured',
      labelNames: ['sale'],
      registers,
    }),
    lineBoost: fading(LINE_FADES_MS, {
      name: 'line_boost',
      help: 'Factor of the configured rate that makes up for those who do not come; 1 or more',
      labelNames: ['sale'],
      registers,
    }),
    lineThrottle: fading(LINE_FADES_MS, {
      name: 'line_throttle',
      help: 'Factor of the configured rate for the sake of the origin; 1 or less',
      labelNames: ['sale'],
      registers,
    }),
  }
}

/** A counter that begins again for labels which have not been counted for so long, as if by a new process. */
function ofSale<T extends string>(config: CounterConfiguration<T>) {
  const lately = named<T>(SALE_FADES_MS, config)
  const counter = new Counter({
    ...config,
    collect() {
      for (const labels of lately.faded()) counter.remove(labels)
    },
  })
  return {
    inc(labels: LabelValues<T>, by = 1): void {
      lately.name(labels)
      counter.inc(labels, by)
    },
  }
}

/**
 * A gauge that says nothing of what has not been set again for so long: an old value looks like a true one, and one that is
 * missing does not.
 */
function fading<T extends string>(fadesMs: number, config: GaugeConfiguration<T>) {
  const lately = named<T>(fadesMs, config)
  const gauge = new Gauge({
    ...config,
    collect() {
      for (const labels of lately.faded()) gauge.remove(labels)
    },
  })
  return {
    set(labels: LabelValues<T>, value: number): void {
      lately.name(labels)
      gauge.set(labels, value)
    },
    remove(labels: LabelValues<T>): void {
      lately.forget(labels)
      gauge.remove(labels)
    },
  }
}

/** The labels that were named, and when last, by a clock that never jumps. */
function named<T extends string>(fadesMs: number, { labelNames }: { readonly labelNames?: readonly T[] }) {
  const last = new Map<string, { labels: LabelValues<T>; atMs: number }>()
  const nameOf = (labels: LabelValues<T>) => JSON.stringify(labelNames?.map((name) => labels[name]))
  const forget = (labels: LabelValues<T>) => last.delete(nameOf(labels))
  return {
    name: (labels: LabelValues<T>) => last.set(nameOf(labels), { labels, atMs: performance.now() }),
    forget,
    /** Those that have not been named again for so long, and are forgotten by this. */
    faded() {
      const all = [...last.values()].filter(({ atMs }) => performance.now() - atMs > fadesMs)
      for (const { labels } of all) forget(labels)
      return all.map(({ labels }) => labels)
    },
  }
}
