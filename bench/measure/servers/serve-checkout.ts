/**
 * The HTTP part of the servers with which the origin is compared: the same request and the same token check as the
 * origin's.
 */
import { randomUUIDv7 } from 'node:crypto'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { hmacKey } from '../../../origin/lib/hmac.ts'
import { CheckoutRequest } from '../../../shared/api/public.ts'
import { importKeys } from '../../../shared/keys.ts'
import { tryParseJson } from '../../../shared/parse.ts'
import { problem, problemResponse } from '../../../shared/problem.ts'
import { ADMISSION, readToken } from '../../../shared/tokens.ts'

/** A valid checkout call with the id of its new order. */
export interface Buyer {
  readonly sale: string
  readonly visitor: string
  readonly key: string
  readonly order: string
  readonly asked: CheckoutRequest
}

/** Serves checkouts on PORT until SIGTERM. `take` makes the order; false means sold out. */
export async function serveCheckout(take: (buyer: Buyer) => Promise<boolean>): Promise<void> {
  const { PORT, ADMISSION_KEYS = '' } = process.env
  const soldOut = problemResponse(problem('sold-out'))
  const keys = await importKeys(JSON.parse(ADMISSION_KEYS), hmacKey)
  const app = new Hono()

  app.post('/sales/:sale/checkout', async (c) => {
    const token = c.req.header('authorization')?.slice('Bearer '.length) ?? ''
    const admission = await readToken(ADMISSION, keys, token, Date.now())
    if (!admission.ok) return c.json({ type: '/problems/not-admitted' }, 429)
    const body = tryParseJson(CheckoutRequest, await c.req.text())
    const key = c.req.header('idempotency-key')
    if (!body || key === undefined) return c.json({ type: '/problems/invalid-request' }, 400)
    const buyer = { sale: c.req.param('sale'), visitor: admission.claims.sub, key, order: randomUUIDv7(), asked: body }
    if (!(await take(buyer))) return new Response(soldOut.body, soldOut)
    return c.json({ order_id: buyer.order, sale: buyer.sale, quantity: body.quantity, status: 'reserved' }, 201)
  })

  app.get('/healthz', (c) => c.json({ status: 'ok' }))

  serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' })
  process.on('SIGTERM', () => process.exit(0))
}
