/**
 * Webhooks of the payment provider, and of the sandbox beside it. Duplicates and late ones change nothing: the
 * ledger's guards decide.
 */
import { Hono } from 'hono'
import { jsonIn } from '../../shared/parse.ts'
import { problem } from '../../shared/problem.ts'
import { headerOf, readText, refuse, sendJson } from '../lib/request.ts'
import type { Payments } from './payments.ts'

export function paymentWebhooks({ sources, charges }: Pick<Payments, 'sources' | 'charges'>): Hono {
  const app = new Hono()
  for (const source of sources)
    app.post(`/${source.name}`, async (c) => {
      const body = await readText(c)
      const charge = await source.readWebhook((name) => headerOf(c, name), body)
      if (charge === undefined) refuse(problem('unauthorized', { detail: 'The signature does not hold.' }))
      if (charge) await charges.report(charge)
      else jsonIn(body)
      return sendJson({ received: true }, 200)
    })
  return app
}
