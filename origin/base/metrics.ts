/**
 * The metrics of one process, for Prometheus at /metrics. Counters of a sale end a day after their last change, since
 * a year of sales would make every scrape slow. Gauges of something shared (stock, the queue) show the latest value
 * seen, and nothing once it is too old: a stale value looks like a true one.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, type LabelValues, Registry } from 'prom-client'
import type { PoolLoad } from '../ledger/connection.ts'

export type Metrics = ReturnType<typeof createMetrics>

/** The reconciler compares the stores every few seconds. */
const STOCK_MAX_AGE_MS = 30_000
/** The reconciler counts the orders every half minute. */
const ORDERS_MAX_AGE_MS = 90_000
/** The edge reports every second. */
export const QUEUE_MAX_AGE_MS = 10_000
const SALE_COUNTER_MAX_AGE_MS = 24 * 3_600_000

/**
 * How often the lag of the event loop is looked at; the usual 10 ms wake a process with nothing to do a hundred times
 * a second.
 */
const LAG_EVERY_MS = 100

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
const UPDATE_SECONDS = [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10]
/** Errors of a shown wait: pages round it to minutes. */
const WAIT_ERROR_SECONDS = [1, 5, 15, 30, 60, 120, 300, 600, 1800]
const JOB_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300]
const BATCH_SIZES = [1, 2, 5, 10, 25, 50, 100, 250, 500]

/** `stores` says of each store whether it answers this process now, `pools` how busy its connections are. */
export function createMetrics(
  stores: () => Readonly<Record<string, boolean>> = () => ({}),
  pools: Readonly<Record<string, () => PoolLoad>> = {},
) {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_EVERY_MS })

  const counter = <T extends string>(name: string, help: string, ...labelNames: T[]) =>
    new Counter({ name, help, labelNames, registers })
  const histogram = <T extends string>(name: string, help: string, buckets: number[], ...labelNames: T[]) =>
    new Histogram({ name, help, buckets, labelNames, registers })

  const forgetting: (() => void)[] = []

  /** Keeps values by label, and shows the fresh ones at a scrape. */
  const expiring = <T extends string>(
    Metric: typeof Counter<T> | typeof Gauge<T>,
    maxAgeMs: number,
    options: { readonly name: string; readonly help: string; readonly labelNames: T[] },
  ) => {
    const values = new Map<string, { labels: LabelValues<T>; value: number; atMs: number }>()
    const keyOf = (labels: LabelValues<T>) => {
      let key = ''
      for (const label of options.labelNames) key += `${labels[label] ?? ''}\n`
      return key
    }
    const metric: Pick<Gauge<T>, 'reset' | 'inc'> = new Metric({
      ...options,
      registers,
      collect() {
        forget()
        for (const { labels, value } of values.values()) metric.inc(labels, value)
      },
    })
    const forget = () => {
      metric.reset()
      for (const [key, { atMs }] of values) if (performance.now() - atMs > maxAgeMs) values.delete(key)
    }
    forgetting.push(forget)
    return {
      set: (labels: LabelValues<T>, value: number) =>
        void values.set(keyOf(labels), { labels, value, atMs: performance.now() }),
      inc(labels: LabelValues<T>, by: number) {
        const key = keyOf(labels)
        const known = values.get(key)
        if (!known) return void values.set(key, { labels, value: by, atMs: performance.now() })
        known.value += by
        known.atMs = performance.now()
      },
      remove: (labels: LabelValues<T>) => void values.delete(keyOf(labels)),
    }
  }
  const saleCounter = <T extends string>(name: string, help: string, ...labelNames: T[]) => {
    const { inc } = expiring(Counter<T>, SALE_COUNTER_MAX_AGE_MS, { name, help, labelNames })
    return { inc: (labels: LabelValues<T>, by = 1) => inc(labels, by) }
  }
  const gauge = <T extends string>(name: string, help: string, ...labelNames: T[]) =>
    expiring(Gauge<T>, STOCK_MAX_AGE_MS, { name, help, labelNames })
  const queueGauge = (name: string, help: string) =>
    expiring(Gauge<'sale'>, QUEUE_MAX_AGE_MS, { name, help, labelNames: ['sale'] })

  new Gauge({
    name: 'store_up',
    help: '1 while a store (ledger, redis) answers this process, 0 while it does not; either suffices to serve',
    labelNames: ['store'],
    registers,
    collect() {
      for (const [store, isUp] of Object.entries(stores())) this.set({ store }, isUp ? 1 : 0)
    },
  })
  const poolGauge = (name: string, help: string, of: keyof PoolLoad) =>
    new Gauge({
      name,
      help,
      labelNames: ['pool'],
      registers,
      collect() {
        for (const [pool, load] of Object.entries(pools)) this.set({ pool }, load()[of])
      },
    })
  poolGauge('ledger_connections_used', 'Connections to Postgres that open or have work, by pool', 'used')
  poolGauge('ledger_connections_max', 'Connections to Postgres that a pool may have', 'max')
  poolGauge('ledger_statements_waiting', 'Statements and transactions that wait for a connection', 'waiting')

  return {
    registry,
    /** Lets go of values that are too old to be shown, for a process that nobody scrapes. */
    forgetOld() {
      for (const forget of forgetting) forget()
    },

    // -- Checkout --
    checkouts: saleCounter('checkouts_total', 'Checkout calls by outcome', 'sale', 'outcome'),
    checkoutSeconds: histogram('checkout_seconds', 'Time from a checkout call to its response', SECONDS),
    recordSeconds: histogram('record_batch_seconds', 'Time of one batch in the ledger', [...SECONDS, 10]),
    recordSize: histogram('record_batch_size', 'Reservations in one batch', BATCH_SIZES),
    degraded: counter('degraded_total', 'Checkouts served without a store', 'without'),
    orders: saleCounter('order_transitions_total', 'Orders by new status', 'sale', 'status', 'reason'),
    orderUpdateSeconds: histogram(
      'order_update_seconds',
      'Time from a change of an order to its write to one stream that was open',
      UPDATE_SECONDS,
    ),

    // -- Payment --
    payments: counter('payment_attempts_total', 'Attempts to authorize a charge, by outcome', 'outcome'),
    captures: counter('capture_attempts_total', 'Attempts to capture a charge, by outcome', 'outcome'),
    refunds: counter('refund_attempts_total', 'Attempts to refund a charge, by outcome', 'outcome'),
    providerCalls: counter('provider_calls_total', 'Calls taken from the budget of the provider, by what for', 'kind'),

    // -- Mail --
    mails: counter(
      'mail_attempts_total',
      'Attempts to send a mail or a push message to a buyer, by outcome',
      'outcome',
    ),
    // -- Webhooks --
    webhooks: counter('webhook_attempts_total', 'Attempts to deliver a message to an endpoint, by outcome', 'outcome'),
    webhookBacklog: gauge('webhook_deliveries_pending', 'Messages that wait to be delivered to active endpoints'),
    webhookAge: gauge('webhook_oldest_pending_seconds', 'Time that the oldest pending message has waited'),

    // -- Halls --
    sectionUpdateSeconds: histogram(
      'section_update_seconds',
      'Time from a change of the places left in a section to its write to one listener',
      UPDATE_SECONDS,
    ),

    // -- Streams --
    streamListeners: new Gauge({
      name: 'stream_listeners',
      help: 'Open streams of events, by what of: orders, sections, console',
      labelNames: ['stream'],
      registers,
    }),
    listenersDropped: counter(
      'stream_listeners_dropped_total',
      'Streams ended, whose readers read too slowly',
      'stream',
    ),

    // -- Scheduled actions and queues --
    scheduled: counter('scheduled_runs_total', 'Runs of scheduled actions, by outcome', 'outcome'),
    queueJobs: gauge(
      'queue_jobs',
      'Jobs of a queue by state: waiting, later, active, retrying, dead',
      'queue',
      'state',
    ),
    jobAttempts: counter('job_attempts_total', 'Attempts of jobs: done, failed, dead, returned', 'queue', 'outcome'),
    jobWait: histogram(
      'job_wait_seconds',
      'Time from the moment in which a job could begin to its attempt',
      JOB_SECONDS,
      'queue',
    ),
    jobSeconds: histogram('job_seconds', 'Time of an attempt of a job', JOB_SECONDS, 'queue', 'outcome'),
    queueAge: gauge('queue_oldest_seconds', 'For how long the oldest job that could begin has waited', 'queue'),

    // -- Stock --
    stock: gauge('stock_units', 'Units by state, from the ledger', 'sale', 'product', 'state'),
    drift: gauge('stock_drift_units', 'Units in the gate beyond the ledger', 'sale', 'product', 'state'),
    oversold: expiring(Gauge<'sale' | 'product'>, ORDERS_MAX_AGE_MS, {
      name: 'oversold_units',
      help: 'Live units beyond the total; must be 0',
      labelNames: ['sale', 'product'],
    }),
    gateOpen: gauge('gate_open', '1 while the fast gate is in use, 0 without it', 'sale'),
    intents: gauge('intents_waiting', 'Intents that are not recorded yet', 'sale'),
    findings: saleCounter('findings_total', 'Findings; some concern no sale', 'sale', 'kind'),

    // -- Events --
    readerBehind: gauge('event_reader_behind_seconds', 'Age of the oldest event that a reader has not read', 'reader'),
    eventsHeldBack: gauge(
      'events_held_back_seconds',
      'Age of the oldest transaction that writes on the server: events wait for its end',
    ),

    sessionsEnded: counter('ledger_sessions_ended_total', 'Forgotten sessions of Postgres that were ended', 'state'),

    // -- Views --
    viewEvents: counter('view_events_total', 'Beacons of views written to the raw log'),
    viewsDropped: counter('view_events_dropped_total', 'Beacons of views that were lost, by where', 'where'),
    views: saleCounter('views_total', 'Views counted, or dropped by a rule', 'sale', 'verdict'),
    viewsBehind: gauge('views_behind_seconds', 'Age of the oldest beacon in the raw log that is not counted', 'part'),

    retention: counter('retention_rows_total', 'Rows deleted or made anonymous after their retention period', 'kind'),

    // -- Redis and actors --
    redisMemoryUsed: gauge('redis_memory_used_bytes', 'Memory that a Redis node uses', 'node'),
    redisMemoryMax: gauge('redis_memory_max_bytes', 'Memory that a Redis node may use; 0: no limit', 'node'),
    traceSpans: counter('trace_spans_total', 'Spans of traces: exported, dropped (too many wait), failed', 'outcome'),
    actorFailures: counter('actor_failures_total', 'Failed rounds of background actors', 'actor'),
    actorSuccess: new Gauge({
      name: 'actor_last_success_timestamp_seconds',
      help: 'End of the last successful round; before the first, the start of the actor',
      labelNames: ['actor'],
      registers,
    }),

    // -- Queue --
    edgeJoins: saleCounter('edge_joins_total', 'Places given, as the edge reports', 'sale'),
    edgeRefusals: saleCounter('edge_refusals_total', 'Joins refused by the edge', 'sale', 'reason'),
    edgeProofs: saleCounter('edge_proofs_total', 'Proofs of work solved', 'sale'),
    arrivals: queueGauge('arrivals', 'Ticket numbers that have made a checkout call'),
    waitingForStock: queueGauge('hopeful', 'Visitors who found all units in carts and still ask'),
    queueWaiting: queueGauge('queue_waiting', 'Numbers issued and not called yet, as the edge reports'),
    queueExpected: queueGauge('queue_expected_visitors', 'Visitors that the sale expects'),
    queueWait: queueGauge('queue_wait_seconds', 'Time until the last in the queue is called'),
    waitError: histogram(
      'wait_error_seconds',
      'How far a wait was from what its visitor was shown as they joined: longer or shorter',
      WAIT_ERROR_SECONDS,
      'direction',
    ),
    didNotCome: queueGauge('queue_did_not_come', 'Positions called whose turn passed without a checkout call'),
    admissionRate: queueGauge('admission_rate_per_second', 'Positions that the edge calls per second now'),
    admissionRateTarget: queueGauge('admission_rate_target_per_second', 'Positions per second as configured'),
    forecastJoins: queueGauge('forecast_joins_per_second', 'Joins in the busiest of the next ten minutes'),
    forecastCheckouts: queueGauge('forecast_checkouts_per_second', 'Visitors called in the busiest of these minutes'),
    forecastWaiting: queueGauge('forecast_waiting', 'Who waits in line in ten minutes'),
    lineBoost: queueGauge('line_boost', 'Factor on the rate that makes up for no-shows; 1 or more'),
    lineThrottle: queueGauge('line_throttle', "Factor on the rate for the origin's load; 1 or less"),
    edgeClockSkew: queueGauge('edge_clock_skew_seconds', "How far the ledger's clock is ahead of the edge's"),
  }
}
