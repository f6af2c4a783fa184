/** Webhooks of the payment provider. Duplicates and late ones change nothing: the ledger's guards decide. */
import { Hono } from 'hono'
import { problem } from '../../shared/problem.ts'
import type { Payments } from '../payments/payments.ts'
import { readText, refuse } from './request.ts'

export function paymentWebhooks({ provider, charges }: Pick<Payments, 'provider' | 'charges'>): Hono {
  const app = new Hono()
  app.post(`/${provider.name}`, async (c) => {
    const charge = await provider.readWebhook(c.req.raw.headers, await readText(c))
    if (charge === undefined) refuse(problem('unauthorized', { detail: 'The signature does not hold.' }))
    if (charge) await charges.settle(charge)
    return c.json({ received: true })
  })
  return app
}
