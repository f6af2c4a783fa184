/** Everything about money that a process needs, put together by its configuration. */
import type { Config } from '../config.ts'
import type { Deps } from '../deps.ts'
import { Charges } from './charges.ts'
import type { PaymentJobs } from './jobs.ts'
import { Due } from './outbox.ts'
import type { PaymentProvider } from './provider.ts'
import { startSandbox } from './sandbox.ts'
import { sandboxProvider } from './sandbox-client.ts'
import { stripeProvider } from './stripe.ts'

export interface Payments {
  readonly provider: PaymentProvider
  readonly jobs: PaymentJobs
  readonly charges: Charges
  readonly captures: Due
  readonly refunds: Due
  stop(): Promise<void>
}

export async function startPayments(deps: Omit<Deps, 'payments'>, jobs: PaymentJobs): Promise<Payments> {
  const { provider, stop } = await chooseProvider(deps.config, () => deps.sales.nowMs())
  const captures = new Due('capture', deps, jobs, (due) => provider.capture(due))
  const refunds = new Due('refund', deps, jobs, async (due) => {
    await provider.refund(due)
    return true
  })
  const charges = new Charges(deps, jobs, { captures, refunds }, provider)
  return { provider, jobs, charges, captures, refunds, stop }
}

async function chooseProvider(
  { payment, ROLE, DATABASE_URL, PORT }: Config,
  nowMs: () => number,
): Promise<{ provider: PaymentProvider; stop(): Promise<void> }> {
  const nothing = async () => {}
  if (payment.provider === 'stripe') {
    const { secretKey, webhookSecret, apiUrl } = payment
    return { provider: stripeProvider({ secretKey, webhookSecret, apiUrl, nowMs }), stop: nothing }
  }
  const { url, webhookSecret: secret, timeoutMs, slowMs, lateMs } = payment
  // Whoever only answers calls charges nobody, and has a provider to read its webhooks.
  if (url !== undefined || ROLE === 'api')
    return { provider: sandboxProvider({ url, secret, timeoutMs, nowMs }), stop: nothing }
  const sandbox = await startSandbox({
    databaseUrl: DATABASE_URL,
    webhookUrl: `http://127.0.0.1:${PORT}/webhooks/sandbox`,
    ...{ secret, slowMs, lateMs },
  })
  return {
    provider: sandboxProvider({ url: sandbox.url, secret, timeoutMs, nowMs }),
    stop: () => sandbox.stop(),
  }
}
