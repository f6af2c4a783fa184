/** Webhooks of the payment provider. Duplicates and late ones change nothing: the ledger's guards decide. */
import { Hono } from 'hono'
import { ProblemError, problem } from '../../shared/problem.ts'
import type { Payments } from '../payments/payments.ts'
import { readText } from './request.ts'

export function paymentWebhooks({
  payments: { provider, charges },
}: {
  readonly payments: Pick<Payments, 'provider' | 'charges'>
}): Hono {
  const app = new Hono()
  app.post(`/${provider.name}`, async (c) => {
    const charge = await provider.readWebhook(c.req.raw.headers, await readText(c))
    if (charge === undefined)
      throw new ProblemError(problem('unauthorized', { detail: 'The signature does not hold.' }))
    if (charge) await charges.settle(charge)
    return c.json({ received: true })
  })
  return app
}
