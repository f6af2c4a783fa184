/** The payments of one process, assembled from its configuration. */
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Sql } from '../ledger/connection.ts'
import type { Metrics } from '../lib/metrics.ts'
import type { Orders } from '../orders/orders.ts'
import type { Sales } from '../sales/sales.ts'
import { Charges } from './charges.ts'
import type { PaymentJobs } from './jobs.ts'
import { Outbox } from './outbox.ts'
import type { PaymentProvider } from './provider.ts'
import { startSandbox } from './sandbox.ts'
import { sandboxProvider } from './sandbox-client.ts'
import { stripeProvider } from './stripe.ts'

interface PaymentsDeps {
  readonly config: Config
  readonly sql: Sql
  readonly jobs: PaymentJobs
  readonly sales: Pick<Sales, 'nowMs'>
  readonly orders: Orders
  readonly metrics: Metrics
  readonly log: Logger
}

export type Payments = Awaited<ReturnType<typeof startPayments>>

export async function startPayments({ config, sales, orders, ...deps }: PaymentsDeps) {
  const nowMs = () => sales.nowMs()
  const { provider, stop } = await chooseProvider(config, nowMs)
  const captures = new Outbox('capture', { ...deps, provider })
  const refunds = new Outbox('refund', { ...deps, provider })
  const charges = new Charges({ ...deps, provider, orders, captures, refunds, nowMs })
  return { provider, charges, captures, refunds, stop }
}

async function chooseProvider(
  { payment, ROLE, DATABASE_URL, PORT }: Config,
  nowMs: () => number,
): Promise<{ provider: PaymentProvider; stop(): Promise<void> }> {
  const stopNothing = async () => {}
  if (payment.provider === 'stripe') {
    const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_API_URL: apiUrl } = payment
    return { provider: stripeProvider({ secretKey, webhookSecret, apiUrl, nowMs }), stop: stopNothing }
  }
  const { SANDBOX_URL: url, WEBHOOK_SECRET: secret, SANDBOX_TIMEOUT_MS: timeoutMs } = payment
  // The api role makes no charges, and needs the provider only to read webhooks.
  if (url !== undefined || ROLE === 'api')
    return { provider: sandboxProvider({ url, secret, timeoutMs, nowMs }), stop: stopNothing }
  const sandbox = await startSandbox({
    databaseUrl: DATABASE_URL,
    webhookUrl: `http://127.0.0.1:${PORT}/webhooks/sandbox`,
    ...{ secret, slowMs: payment.SANDBOX_SLOW_MS, lateMs: payment.SANDBOX_LATE_MS },
  })
  return { provider: sandboxProvider({ url: sandbox.url, secret, timeoutMs, nowMs }), stop: sandbox.stop }
}
