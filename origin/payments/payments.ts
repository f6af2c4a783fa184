/** The payments of one process, assembled from its configuration. */
import type { Logger } from 'pino'
import type { Config } from '../base/config.ts'
import type { Metrics } from '../base/metrics.ts'
import { NO_SALE, openFinding } from '../findings/finding-queries.ts'
import type { Sql } from '../ledger/connection.ts'
import { findOrder, type OrderRow } from '../ledger/order-statements.ts'
import type { Runtime } from '../lib/runtime.ts'
import type { Tracer } from '../lib/tracing.ts'
import type { Orders } from '../orders/orders.ts'
import { HttpCharges } from '../providers/http-charges.ts'
import { httpProvider, type NotedFault } from '../providers/http-provider.ts'
import { startSandbox } from '../providers/sandbox.ts'
import { sandboxProvider } from '../providers/sandbox-client.ts'
import { hasRecords } from '../providers/sandbox-records.ts'
import type { Sales } from '../sales/sales.ts'
import type { Store } from '../stock/scripts.ts'
import { CallBudget, type Calls, UNLIMITED } from './call-budget.ts'
import { Charges } from './charges.ts'
import { Outbox } from './outbox.ts'
import type { PaymentJobs } from './payment-jobs.ts'
import { onDemand, type Running, withTestSales } from './test-sales.ts'

interface PaymentsDeps {
  readonly config: Config
  readonly sql: Sql
  readonly redis: Pick<Store, 'takeCalls'>
  readonly jobs: PaymentJobs
  readonly sales: Pick<Sales, 'nowMs'>
  readonly orders: Orders
  readonly metrics: Metrics
  readonly log: Logger
  readonly unitsReturned: (orders: readonly OrderRow[]) => Promise<void>
  readonly tracer: Tracer
  /** Left out: the machine's. */
  readonly runtime?: Runtime
}

type FindingDeps = Pick<PaymentsDeps, 'sql' | 'metrics' | 'log'>

export type Payments = Awaited<ReturnType<typeof startPayments>>

export async function startPayments({ config, sales, orders, redis, tracer, ...others }: PaymentsDeps) {
  const nowMs = () => sales.nowMs()
  const { provider, sources, stop } = await chooseProvider(config, others, nowMs)
  const { perSecond, provider: account } = config.payment
  const calls: Calls = perSecond === null ? UNLIMITED : new CallBudget({ ...others, redis, perSecond, account })
  const deps = { ...others, provider, calls }
  const captures = new Outbox('capture', deps)
  const refunds = new Outbox('refund', deps)
  // Production has one of them. An origin by itself has no page, and providers reject what is no address.
  const shopUrl = config.PUBLIC_URL ?? config.EDGE_URL ?? `http://127.0.0.1:${config.PORT}`
  const returnUrl = ({ sale_id, order_id }: OrderRow) => `${shopUrl}/sales/${sale_id}/order/${order_id}`
  const charges = new Charges({ ...deps, resume: tracer.resume, sources, orders, captures, refunds, returnUrl, nowMs })
  return { calls, sources, charges, captures, refunds, stop }
}

/** The provider of all calls, and those whose webhooks and records count. */
async function chooseProvider(config: Config, deps: FindingDeps, nowMs: () => number) {
  const { payment } = config
  const { sql } = deps
  if (payment.provider === 'sandbox') {
    const { provider, stop } = await runSandbox(config, nowMs)
    return { provider, sources: [provider], stop }
  }
  const { SANDBOX_URL } = config.sandbox
  const isUsed = async () => SANDBOX_URL !== undefined || (await hasRecords(sql))
  const sandbox = onDemand(sandboxOf(config, SANDBOX_URL, nowMs), () => runSandbox(config, nowMs), isUsed)
  if (payment.provider === 'http') {
    const { PAYMENT_URL: url, secrets } = payment
    const note = (fault: NotedFault) => noteFault(fault, deps)
    const shop = httpProvider({ url, secrets, charges: new HttpCharges(sql), note, nowMs })
    return { ...withTestSales(sql, shop, sandbox.provider), stop: sandbox.stop }
  }
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_API_URL: apiUrl } = payment
  // Stripe's library takes a quarter of the time in which an origin starts, so only those load it that use it.
  const { stripeProvider } = await import('../providers/stripe.ts')
  const stripe = stripeProvider({ secretKey, webhookSecret, apiUrl, nowMs })
  return { ...withTestSales(sql, stripe, sandbox.provider), stop: sandbox.stop }
}

/** What the shop's payment server said wrongly is one finding for each kind of it and sale. */
async function noteFault({ fault, reason: error, order, ...said }: NotedFault, { sql, metrics, log }: FindingDeps) {
  log.warn({ ...said, order, fault, error }, 'invalid answer of the payment server')
  const found = order === null ? undefined : await findOrder(sql, order)
  await openFinding(sql, metrics, {
    sale: found?.sale_id ?? NO_SALE,
    product: '',
    kind: 'payment_answer_invalid',
    subject: fault,
    detail: { ...said, ...(order !== null && { order }), error },
  })
}

const sandboxOf = (
  { sandbox: { WEBHOOK_SECRET: secret, SANDBOX_TIMEOUT_MS: timeoutMs } }: Config,
  url: string | undefined,
  nowMs: () => number,
) => sandboxProvider({ url, secret, timeoutMs, nowMs })

async function runSandbox(config: Config, nowMs: () => number): Promise<Running> {
  const { sandbox: settings, ROLE, DATABASE_URL, PORT } = config
  const { SANDBOX_URL: url, WEBHOOK_SECRET: secret } = settings
  // The api role makes no charges, and needs the provider only to read webhooks.
  if (url !== undefined || ROLE === 'api') return { provider: sandboxOf(config, url, nowMs), stop: async () => {} }
  const sandbox = await startSandbox({
    databaseUrl: DATABASE_URL,
    webhookUrl: `http://127.0.0.1:${PORT}/webhooks/sandbox`,
    secret,
    slowMs: settings.SANDBOX_SLOW_MS,
    lateMs: settings.SANDBOX_LATE_MS,
    callsPerSecond: settings.SANDBOX_CALLS_PER_SECOND,
  })
  return { provider: sandboxOf(config, sandbox.url, nowMs), stop: sandbox.stop }
}
