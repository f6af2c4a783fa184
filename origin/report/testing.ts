/** Situations of a sale for tests: one in which all is well, and one for each thing that can be wrong. */
import type { OpenFinding } from '../../shared/api/operators/live.ts'
import { FINDING_ADVICE } from './health/finding-advice.ts'
import type { Situation } from './health/sale-health.ts'

const NOW_MS = Date.parse('2026-11-27T12:10:00Z')
const none = { waiting: 0, oldest_seconds: null }
const late = { waiting: 5, oldest_seconds: 218 }
const backlogs = { intents: none, charges: none, captures: none, refunds: none, webhooks: none, mails: none }
const health: Situation['health'] = {
  ledger: true,
  redis: true,
  edge_seconds: 1,
  workers: 1,
  provider: 'answers',
  provider_ms: null,
}

export const fine: Situation = {
  saleId: 'drop',
  phase: 'open',
  addsUp: true,
  nowMs: NOW_MS,
  paymentsPerSecond: 100,
  shopUrl: 'https://drop.example/sales/drop',
  environment: { name: 'production', payments: 'stripe', test: false },
  health,
  backlogs,
  findings: [],
  minutes: [{ minute: '2026-11-27T12:09:00Z', counts: { reserved: 3 }, gauges: { waiting: 12 } }],
}

const finding = (kind: string, detail: unknown): OpenFinding => ({
  kind,
  product_id: 'one',
  subject: 'ch_1',
  units: 0,
  detail,
  first_seen_at: new Date(NOW_MS - 60_000),
})
const called = (minute: string, atMs: number, called: number) => ({
  minute,
  counts: {},
  gauges: { called, arrived: 0, edge_at_ms: atMs, waiting: 9 },
})

/** Each situation has a single problem. `order` is the order that the findings are about. */
export const wrongs = (order: string): Readonly<Record<string, Partial<Situation>>> => ({
  stock: { addsUp: false },
  postgres: { health: { ...health, ledger: false, edge_seconds: null } },
  redis: { health: { ...health, redis: false, workers: null, provider: null } },
  edge: { health: { ...health, edge_seconds: 20 } },
  'edge, unknown to the origin': { health: { ...health, edge_seconds: 20 }, shopUrl: null },
  workers: { health: { ...health, workers: 0, provider: null } },
  payments: { health: { ...health, provider: 'fails' } },
  'rate of payments': { backlogs: { ...backlogs, charges: { waiting: 2_400, oldest_seconds: 90 } } },
  paused: { phase: 'paused' },
  arrivals: {
    minutes: [
      called('2026-11-27T12:08:00Z', NOW_MS - 70_000, 0),
      called('2026-11-27T12:09:00Z', NOW_MS - 40_000, 61),
      called('2026-11-27T12:10:00Z', NOW_MS - 1_000, 80),
    ],
  },
  ...Object.fromEntries(Object.keys(backlogs).map((name) => [name, { backlogs: { ...backlogs, [name]: late } }])),
  ...Object.fromEntries(
    Object.keys(FINDING_ADVICE).flatMap((kind) => [
      [`finding ${kind}`, { findings: [finding(kind, { order })] }],
      [`finding ${kind} about no order`, { findings: [finding(kind, null)] }],
    ]),
  ),
})
