/**
 * The minimum that a Hono server on Node does for a checkout: read a JSON body and respond with JSON. With
 * ADMISSION_KEYS it also does the minimum of a token check: one HMAC and parsed claims, without a `Headers` object,
 * which would cost more than the HMAC.
 */
import { type HttpBindings, serve } from '@hono/node-server'
import { Hono } from 'hono'
import { hmacKey } from '../../../origin/lib/hmac.ts'
import type { SecretJwkSet } from '../../../shared/keys.ts'

const { PORT, ADMISSION_KEYS } = process.env
const app = new Hono<{ Bindings: HttpBindings }>()

if (ADMISSION_KEYS !== undefined) {
  const { keys }: SecretJwkSet = JSON.parse(ADMISSION_KEYS)
  const secret = hmacKey('', Buffer.from(keys[0]?.k ?? '', 'base64url'))
  app.use('/sales/*', async (c, next) => {
    const { authorization = '' } = c.env.incoming.headers
    const [header, payload = '', signature] = authorization.slice('Bearer '.length).split('.')
    const isSigned = secret.sign(`${header}.${payload}`) === signature
    if (!isSigned || JSON.parse(Buffer.from(payload, 'base64url').toString()).exp * 1000 < Date.now())
      return c.json({ type: '/problems/not-admitted' }, 429)
    await next()
  })
}

app.post('/sales/:sale/checkout', async (c) => {
  const body = await c.req.json()
  return c.json({ status: 'reserved', quantity: body.quantity, sale: c.req.param('sale') }, 201)
})
app.get('*', (c) => c.json({ status: 'ok' }))

serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' })
process.on('SIGTERM', () => process.exit(0))
