/**
 * Each alert fires when it should and not otherwise, as Prometheus itself evaluates it, and goes where Alertmanager's
 * own tool says.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { temporaryFolder } from '../dev/lib/processes.ts'
import { ensureProgram } from '../dev/servers/install.ts'

const RULES = ['./alerts.yml', './slo.yml'].map((file) => fileURLToPath(new URL(file, import.meta.url)))
const ROUTES = fileURLToPath(new URL('./alertmanager.yml', import.meta.url))

/** Values of metrics, one each 15 s, in the notation of promtool. The alert is judged after 14 minutes. */
type Series = Readonly<Record<string, string>>
interface Case {
  /** The series, or each of several, with which it fires. */
  readonly fires: Series | readonly Series[]
  readonly rests: readonly Series[]
}

const always = (value: number) => `${value}x60`
/** A counter that grows by so much each time. */
const grows = (by: number) => `0+${by}x60`
const NOW = { first: '_x50 1x10', again: always(1), counted: '0x39 1x20' }
/** A gauge at one value where the alert fires, and at another where it does not. */
const gauge = (series: string, fires: number, rests: number): Case => ({
  fires: { [series]: always(fires) },
  rests: [{ [series]: always(rests) }],
})
const counters = (values: Readonly<Record<string, number>>): Series =>
  Object.fromEntries(Object.entries(values).map(([series, by]) => [series, grows(by)]))
const counted = (fires: Readonly<Record<string, number>>, ...rests: Readonly<Record<string, number>>[]): Case => ({
  fires: counters(fires),
  rests: rests.map(counters),
})
/** A histogram whose calls mostly take longer than `bound` seconds, and one in which none does. */
const slow = (name: string, bound: number): Case => {
  const buckets = (within: number) => ({
    [`${name}_bucket{le="${bound}"}`]: within,
    [`${name}_bucket{le="${2 * bound}"}`]: 10,
    [`${name}_bucket{le="+Inf"}`]: 10,
  })
  return counted(buckets(1), buckets(10))
}
const finding = (kind: string): Case => {
  const series = `findings_total{sale="s",kind="${kind}"}`
  return { fires: { [series]: NOW.first }, rests: [{ [series]: NOW.again }] }
}
const checkouts = (outcome: string) => `checkouts_total{sale="s",outcome="${outcome}"}`
const refusals = (reason: string) => `edge_refusals_total{sale="s",reason="${reason}"}`
const charges = (outcome: string) => `payment_attempts_total{outcome="${outcome}"}`
const attempts = (queue: string, outcome: string) => `job_attempts_total{queue="${queue}",outcome="${outcome}"}`
const orders = (status: string) => `order_transitions_total{sale="s",status="${status}"}`
const store = (name: string) => `store_up{instance="a",store="${name}"}`
const queue = (waiting: number, rate: number, expected?: number): Series => ({
  'queue_waiting{sale="s"}': always(waiting),
  'admission_rate_per_second{sale="s"}': always(rate),
  ...(expected !== undefined && { 'queue_expected_visitors{sale="s"}': always(expected) }),
})
const memory = (used: number): Series => ({
  'redis_memory_used_bytes{node="a"}': always(used),
  'redis_memory_max_bytes{node="a"}': always(10),
})
const webhooks = (seconds: number, pending: number): Series => ({
  webhook_oldest_pending_seconds: always(seconds),
  webhook_deliveries_pending: always(pending),
})
const UNRELATED = { up: always(1) }
const reconciler = 'actor_last_success_timestamp_seconds{instance="a",actor="reconciler"}'

const CASES: Readonly<Record<string, Case>> = {
  Oversold: gauge('oversold_units{sale="s",product="p"}', 1, 0),
  StockDrift: gauge('stock_drift_units{sale="s",product="p",state="held"}', -1, 0),
  RefundFailed: finding('refund_failed'),
  CaptureFailed: finding('capture_failed'),
  AssertionFailed: finding('assertion_failed'),
  BothGatesGone: {
    fires: { [store('ledger')]: always(0), [store('redis')]: always(0) },
    rests: [{ [store('ledger')]: always(0), [store('redis')]: always(1) }],
  },
  StoreAway: gauge(store('redis'), 0, 1),
  GateClosed: gauge('gate_open{sale="s"}', 0, 1),
  CheckoutsWithoutGate: counted(
    { 'degraded_total{without="gate"}': 2, [checkouts('reserved')]: 10 },
    { 'degraded_total{without="gate"}': 1, [checkouts('reserved')]: 20 },
  ),
  OriginsGone: { fires: UNRELATED, rests: [{ [store('redis')]: always(0) }] },
  WorkersGone: { fires: UNRELATED, rests: [{ [reconciler]: grows(15) }] },
  ReservationsFail: counted(
    { [checkouts('failed')]: 1, [checkouts('reserved')]: 10 },
    { [checkouts('failed')]: 1, [checkouts('reserved')]: 100 },
    { [checkouts('sold-out')]: 10, [checkouts('reserved')]: 1 },
  ),
  ManyReservationsFail: counted(
    { [checkouts('try-again')]: 2, [checkouts('reserved')]: 10 },
    { [checkouts('try-again')]: 1, [checkouts('reserved')]: 10 },
  ),
  CheckoutSlow: slow('checkout_seconds', 0.5),
  ActorSilent: { fires: { [reconciler]: always(0) }, rests: [{ [reconciler]: grows(15) }] },
  IntentsWait: gauge('intents_waiting{sale="s"}', 101, 100),
  RedisFilling: { fires: memory(7), rests: [memory(6)] },
  RedisNearlyFull: { fires: memory(9), rests: [memory(8)] },
  SessionsForgotten: {
    fires: { 'ledger_sessions_ended_total{state="idle"}': NOW.first },
    rests: [{ 'ledger_sessions_ended_total{state="idle"}': NOW.again }],
  },
  ProbeFails: gauge('flash_sale_probe_success', 0, 1),
  ProbeSilent: {
    fires: { flash_sale_probe_last_run_timestamp_seconds: always(0) },
    rests: [{ flash_sale_probe_last_run_timestamp_seconds: grows(15) }],
  },
  BudgetBurnsFast: {
    fires: [
      { [checkouts('shed')]: 2, [checkouts('reserved')]: 100 },
      { 'checkout_seconds_bucket{le="0.5"}': 85, checkout_seconds_count: 100 },
      { [refusals('try-again')]: 2, 'edge_joins_total{sale="s"}': 100 },
      { [charges('unknown')]: 16, [charges('authorized')]: 84 },
    ].map(counters),
    rests: [
      { [checkouts('shed')]: 1, [checkouts('reserved')]: 1_000 },
      { [checkouts('sold-out')]: 100, [checkouts('reserved')]: 1 },
      { 'checkout_seconds_bucket{le="0.5"}': 95, checkout_seconds_count: 100 },
      { [refusals('refused')]: 50, 'edge_joins_total{sale="s"}': 100 },
      { [charges('declined')]: 50, [charges('authorized')]: 50 },
      // There are fewer than a hundred of them.
      { [checkouts('shed')]: 1, [checkouts('reserved')]: 0.5 },
    ].map(counters),
  },
  BudgetBurns: counted(
    { [checkouts('shed')]: 1, [checkouts('reserved')]: 500 },
    { [checkouts('shed')]: 1, [checkouts('reserved')]: 2_000 },
  ),
  // The lobby holds everybody who is expected, and more.
  QueueLong: { fires: queue(501, 10, 500), rests: [queue(500, 10, 500), queue(900, 0, 500), queue(400_000, 10)] },
  QueueVeryLong: {
    fires: queue(1_000_001, 10),
    rests: [queue(1000, 10, 500), queue(9000, 0, 500), queue(900_000, 10)],
  },
  WaitLong: gauge('queue_wait_seconds{sale="s"}', 901, 900),
  ClocksDiffer: gauge('edge_clock_skew_seconds{sale="s"}', -3, 2),
  PaymentsUnanswered: counted(
    { [charges('unknown')]: 2, [charges('authorized')]: 10 },
    { [charges('unknown')]: 1, [charges('authorized')]: 10 },
  ),
  PaymentsTurnedAway: counted({ [charges('turned_away')]: 1 }, { [charges('turned_away')]: 0 }),
  EveryPaymentTurnedAway: counted(
    { [charges('turned_away')]: 1, [charges('authorized')]: 0 },
    { [charges('turned_away')]: 1, [charges('declined')]: 1 },
  ),
  ChargesWait: gauge('queue_oldest_seconds{queue="charge"}', 61, 60),
  HoldsExpire: counted(
    { [orders('expired')]: 2, [orders('confirmed')]: 1 },
    { [orders('expired')]: 1, [orders('confirmed')]: 2 },
    // There are fewer than twenty of them.
    { [orders('expired')]: 0.4 },
  ),
  JobsFail: counted(
    { [attempts('charge', 'failed')]: 1, [attempts('charge', 'done')]: 10 },
    { [attempts('charge', 'failed')]: 1, [attempts('charge', 'done')]: 100 },
    { [attempts('mail', 'failed')]: 1 },
  ),
  JobsLate: slow('job_wait_seconds', 60),
  ScheduledActionFailed: {
    fires: { 'scheduled_runs_total{outcome="late"}': NOW.counted },
    rests: [{ 'scheduled_runs_total{outcome="done"}': NOW.counted }],
  },
  DeadJobs: {
    fires: { 'queue_jobs{queue="charge",state="dead"}': always(1) },
    rests: [{ 'queue_jobs{queue="mail",state="dead"}': always(1) }],
  },
  OrderUpdatesLate: slow('order_update_seconds', 2),
  SectionUpdatesLate: slow('section_update_seconds', 2),
  SectionUpdatesVeryLate: slow('section_update_seconds', 5),
  ReaderStands: gauge('event_reader_behind_seconds{reader="webhooks"}', 121, 120),
  EventsHeldBack: gauge('events_held_back_seconds', 121, 120),
  ViewsBehind: gauge('views_behind_seconds{part="0"}', 61, 60),
  ViewsDropped: {
    fires: { 'view_events_dropped_total{where="buffer"}': NOW.counted },
    rests: [{ 'view_events_dropped_total{where="unknown sale"}': NOW.counted }],
  },
  WebhooksLate: { fires: webhooks(301, 1001), rests: [webhooks(301, 1000), webhooks(300, 1001)] },
}

const folder = temporaryFolder('alerts')
beforeAll(async () => {
  const otherwise = 'leave this test to a machine that has it'
  for (const [name, apt] of [
    ['promtool', 'prometheus'],
    ['amtool', 'prometheus-alertmanager'],
  ] as const)
    await ensureProgram({ name, binaries: [name], apt, brew: apt.replace('prometheus-', ''), otherwise })
}, 600_000)
afterAll(() => folder.remove())

test('every alert has a case here', () => {
  const text = RULES.map((file) => readFileSync(file, 'utf8')).join('')
  const alerts = [...text.matchAll(/- alert: (\w+)/g)].map(([, name]) => name)
  expect(Object.keys(CASES).sort()).toEqual(alerts.sort())
})

test.each(Object.entries(CASES))('%s fires when it should, and not otherwise', async (name, { fires, rests }) => {
  const firing = [fires].flat()
  const tests = [...firing, ...rests].map((series) => ({
    interval: '15s',
    input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${name}",alertstate="firing"})`,
        eval_time: '14m',
        exp_samples: firing.includes(series) ? [{ labels: '{}', value: 1 }] : [],
      },
    ],
  }))
  const file = join(folder.path, `${name}.yml`)
  writeFileSync(file, JSON.stringify({ rule_files: RULES, evaluation_interval: '15s', tests }))
  const { exitCode, all } = await execa('promtool', ['test', 'rules', file], { all: true, reject: false })
  expect([exitCode, all]).toEqual([0, expect.stringContaining('SUCCESS')])
})

test('what pages wakes somebody and is read by all, and what warns is read', async () => {
  const receiversOf = async (severity: string) => {
    const args = ['config', 'routes', 'test', `--config.file=${ROUTES}`, `severity=${severity}`]
    return (await execa('amtool', args)).stdout.trim()
  }
  expect((await execa('amtool', ['check-config', ROUTES])).stdout).toMatch(/SUCCESS[\s\S]*2 receivers/)
  expect([await receiversOf('page'), await receiversOf('warn')]).toEqual(['page,warn', 'warn'])
})
