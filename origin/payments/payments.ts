/** Everything about money that a process needs, put together by its configuration. */
import type { Config } from '../config.ts'
import type { Deps } from '../deps.ts'
import { Charges } from './charges.ts'
import type { PaymentJobs } from './jobs.ts'
import { type PaymentProvider, PROVIDER_TIMEOUT_MS } from './provider.ts'
import { Refunds } from './refunds.ts'
import { startSandbox } from './sandbox.ts'
import { sandboxProvider } from './sandbox-client.ts'
import { stripeProvider } from './stripe.ts'

export interface Payments {
  readonly provider: PaymentProvider
  readonly charges: Charges
  readonly refunds: Refunds
  stop(): Promise<void>
}

export async function startPayments(deps: Omit<Deps, 'payments'>, jobs: PaymentJobs): Promise<Payments> {
  const { provider, stop } = await chooseProvider(deps.config, () => deps.sales.nowMs())
  const refunds = new Refunds(deps, jobs, provider)
  return { provider, refunds, charges: new Charges(deps, jobs, refunds, provider), stop }
}

async function chooseProvider(
  config: Config,
  nowMs: () => number,
): Promise<{ provider: PaymentProvider; stop(): Promise<void> }> {
  const nothing = async () => {}
  if (config.PAYMENT_PROVIDER === 'stripe') {
    const { STRIPE_SECRET_KEY = '', STRIPE_WEBHOOK_SECRET = '', STRIPE_API_URL: apiUrl } = config
    const secrets = { secretKey: STRIPE_SECRET_KEY, webhookSecret: STRIPE_WEBHOOK_SECRET }
    return { provider: stripeProvider({ ...secrets, apiUrl, nowMs }), stop: nothing }
  }
  const secret = config.WEBHOOK_SECRET
  const timeoutMs = Math.min(config.SANDBOX_TIMEOUT_MS, PROVIDER_TIMEOUT_MS)
  // Whoever only answers calls charges nobody, and has a provider to read its webhooks.
  if (config.SANDBOX_URL !== undefined || config.ROLE === 'api') {
    return {
      provider: sandboxProvider({ url: config.SANDBOX_URL, secret, timeoutMs, nowMs }),
      stop: nothing,
    }
  }
  const sandbox = await startSandbox({
    databaseUrl: config.DATABASE_URL,
    webhookUrl: `http://127.0.0.1:${config.PORT}/webhooks/sandbox`,
    secret,
    ...(config.SANDBOX_SLOW_MS !== undefined && { slowMs: config.SANDBOX_SLOW_MS }),
    ...(config.SANDBOX_LATE_MS !== undefined && { lateMs: config.SANDBOX_LATE_MS }),
  })
  return {
    provider: sandboxProvider({ url: sandbox.url, secret, timeoutMs, nowMs }),
    stop: () => sandbox.stop(),
  }
}
