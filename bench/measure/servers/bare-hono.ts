/** The least a Hono server on Node can do with the same requests: read a JSON body, respond with JSON. */
import { serve } from '@hono/node-server'
import { Hono } from 'hono'

const app = new Hono()
app.post('/sales/:sale/checkout', async (c) => {
  const body = await c.req.json()
  return c.json({ status: 'reserved', quantity: body.quantity, sale: c.req.param('sale') }, 201)
})
app.get('/healthz', (c) => c.json({ status: 'ok' }))

serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' })
process.on('SIGTERM', () => process.exit(0))
