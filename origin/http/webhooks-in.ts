/** What the payment provider tells us unasked. Duplicates and latecomers change nothing: the ledger's guards decide. */
import { Hono } from 'hono'
import { problem } from '../../shared/problem.ts'
import type { Deps } from '../deps.ts'
import { readText, refuse } from './request.ts'

export function paymentWebhooks({ payments }: Deps): Hono {
  const app = new Hono()
  app.post(`/${payments.provider.name}`, async (c) => {
    const charge = await payments.provider.readWebhook(c.req.raw.headers, await readText(c))
    if (charge === undefined)
      return refuse(problem('unauthorized', { detail: 'The signature does not hold.' }))
    if (charge) await payments.charges.settle(charge)
    return c.json({ received: true })
  })
  return app
}
