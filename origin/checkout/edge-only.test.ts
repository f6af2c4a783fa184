/** Buyers come through the edge, which knows more of them than their token says. */
import { expect, test } from 'vitest'
import { useOwnOrigin } from '../../test/lib/origin-process.ts'

const NEXT_TOKEN = 'the-edge-token-after-this-one-0123456789'
const origin = useOwnOrigin(undefined, { ALLOW_DIRECT: 'false', EDGE_TOKEN_ALSO: NEXT_TOKEN })
const ORDER = '01934fd2-7c00-7000-8000-000000000001'

test('refuses buyers’ calls without the edge’s token, before anything else is read', async () => {
  const sale = await origin.sale()
  const token = await origin.token(sale)
  const calls = [
    ['POST', `/sales/${sale}/checkout`],
    ['POST', '/sales/unknown/checkout'],
    ['GET', `/sales/${sale}/of-a-later-version`],
    ['GET', `/sales/${sale}/orders`],
    ['GET', `/orders/${ORDER}`],
    ['GET', `/orders/${ORDER}/events`],
    ['POST', `/orders/${ORDER}/payment`],
    ['DELETE', `/orders/${ORDER}`],
  ] as const
  const wrong = ['', 'x', `${origin.edgeToken}x`, origin.edgeToken.replace(/.$/, 'x'), origin.edgeToken.toUpperCase()]
  for (const [method, path] of calls) {
    for (const edgeToken of [undefined, ...wrong]) {
      const headers = { 'idempotency-key': 'k', ...(edgeToken !== undefined && { 'edge-token': edgeToken }) }
      const body = method === 'POST' ? { body: '{' } : {}
      const answer = await origin.call(method, path, { token, headers, ...body })
      expect(answer, `${method} ${path}`).toMatchObject({ status: 403, body: { type: '/problems/edge-only' } })
      expect(answer.body.detail).toContain('ALLOW_DIRECT')
    }
  }
  expect(await origin.stock(sale)).toMatchObject({ held: 0 })

  // Meanwhile the token is being changed, and an edge that has the next one is served too.
  const next = { 'idempotency-key': 'k', 'edge-token': NEXT_TOKEN }
  expect(await origin.call('GET', `/orders/${ORDER}`, { token, headers: next })).not.toMatchObject({ status: 403 })
  expect(await origin.call('GET', `/internal/sales/${sale}`, { token: NEXT_TOKEN })).toMatchObject({ status: 200 })

  const headers = { 'idempotency-key': 'k', 'edge-token': origin.edgeToken }
  const bought = await origin.call('POST', `/sales/${sale}/checkout`, { token, headers, body: {} })
  expect(bought.status).toBe(201)
  expect(await origin.call('GET', `/orders/${bought.body.order_id}`, { token, headers })).toMatchObject({ status: 200 })
})

test('asks no other caller for it', async () => {
  const sale = await origin.sale()
  const calls = [
    [200, '/healthz', {}],
    [404, '/readyz', {}],
    [404, '/metrics', {}],
    [200, `/internal/sales/${sale}`, { token: origin.edgeToken }],
    [404, '/nothing-here', {}],
  ] as const
  for (const [status, path, options] of calls)
    expect((await origin.call('GET', path, options)).status, path).toBe(status)
  expect((await origin.call('POST', '/webhooks/sandbox', { body: {} })).status).toBe(401)
})
