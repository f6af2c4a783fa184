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
  readonly sales: Pick<Sales, 'nowMs'>
  readonly orders: Orders
  readonly metrics: Metrics
  readonly log: Logger
}

export interface Payments {
  readonly provider: PaymentProvider
  readonly jobs: PaymentJobs
  readonly charges: Charges
  readonly captures: Outbox
  readonly refunds: Outbox
  stop(): Promise<void>
}

export async function startPayments(deps: PaymentsDeps, jobs: PaymentJobs): Promise<Payments> {
  const { config, sql, sales, orders, metrics, log } = deps
  const nowMs = () => sales.nowMs()
  const { provider, stop } = await chooseProvider(config, nowMs)
  const outbox = { sql, jobs, metrics, log }
  const captures = new Outbox('capture', outbox, (charge) => provider.capture(charge))
  const refunds = new Outbox('refund', outbox, async (charge) => {
    await provider.refund(charge)
    return true
  })
  const charges = new Charges({ ...outbox, provider, orders, captures, refunds, nowMs })
  return { provider, jobs, charges, captures, refunds, stop }
}

async function chooseProvider(
  { payment, ROLE, DATABASE_URL, PORT }: Config,
  nowMs: () => number,
): Promise<{ provider: PaymentProvider; stop(): Promise<void> }> {
  const stopNothing = async () => {}
  if (payment.provider === 'stripe') {
    const secrets = { secretKey: payment.STRIPE_SECRET_KEY, webhookSecret: payment.STRIPE_WEBHOOK_SECRET }
    return {
      provider: stripeProvider({ ...secrets, apiUrl: payment.STRIPE_API_URL, nowMs }),
      stop: stopNothing,
    }
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
  return {
    provider: sandboxProvider({ url: sandbox.url, secret, timeoutMs, nowMs }),
    stop: () => sandbox.stop(),
  }
}
