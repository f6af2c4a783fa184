/**
 * Endpoints that check the token of a checkout and sell nothing. MODE decides:
 *
 *   check    reads the request as ours does, and answers as if it had sold: no checkout can be faster
 *   refuse   the same, and answers 410 with a text made beforehand: no refusal can be faster
 *   hmac     what a check of the token must do: one HMAC, its claims parsed, and no `Headers` object
 */
import { type HttpBindings, serve } from '@hono/node-server'
import { Hono } from 'hono'
import { hmacKey } from '../../../origin/lib/hmac.ts'
import { CheckoutRequest } from '../../../shared/api/public.ts'
import { importKeys, type SecretJwkSet } from '../../../shared/keys.ts'
import { tryParseJson } from '../../../shared/parse.ts'
import { problem, problemResponse } from '../../../shared/problem.ts'
import { ADMISSION, readToken } from '../../../shared/tokens.ts'

const { MODE, PORT, ADMISSION_KEYS = '' } = process.env
const set: SecretJwkSet = JSON.parse(ADMISSION_KEYS)
const keys = await importKeys(set, hmacKey)
const secret = hmacKey('', Buffer.from(set.keys[0]?.k ?? '', 'base64url'))
const soldOut = problemResponse(problem('sold-out'))

async function check(token: string): Promise<boolean> {
  if (MODE !== 'hmac') return (await readToken(ADMISSION, keys, token, Date.now())).ok
  const [header, payload = '', signature] = token.split('.')
  return (
    secret.sign(`${header}.${payload}`) === signature &&
    JSON.parse(Buffer.from(payload, 'base64url').toString()).exp * 1000 > Date.now()
  )
}

const app = new Hono<{ Bindings: HttpBindings }>()

app.post('/sales/:sale/checkout', async (c) => {
  // As Node has them: a `Headers` object costs more than the HMAC.
  const header = (name: string) => (MODE === 'hmac' ? c.env.incoming.headers[name]?.toString() : c.req.header(name))
  const token = header('authorization')?.slice('Bearer '.length) ?? ''
  if (!(await check(token))) return c.json({ type: '/problems/not-admitted' }, 429)
  const text = await c.req.text()
  const body = MODE === 'hmac' ? JSON.parse(text) : tryParseJson(CheckoutRequest, text)
  if (!body || header('idempotency-key') === undefined) return c.json({ type: '/problems/invalid-request' }, 400)
  if (MODE === 'refuse') return new Response(soldOut.body, { status: soldOut.status, headers: soldOut.headers })
  return c.json({ status: 'reserved', quantity: body.quantity, sale: c.req.param('sale') }, 201)
})

app.get('/healthz', (c) => c.json({ status: 'ok' }))

serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' })
process.on('SIGTERM', () => process.exit(0))
