/**
 * After the payment the buyer returns to the shop with the signed order, which the shop can verify without a call.
 */
import { createLocalJWKSet, exportJWK, generateKeyPair, type JSONWebKeySet, jwtVerify } from 'jose'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { Env } from '../http/config.ts'
import { edgeEnv, orderOf, stub } from '../testing/origin.ts'
import { call, knownCookie, TestSale } from '../testing/visitors.ts'

const SECRET = 'a-secret-of-the-tests'
const { privateKey } = await generateKeyPair('Ed25519', { extractable: true })
const jwk = { ...(await exportJWK(privateKey)), kid: 'ed-1', alg: 'EdDSA' }
const signing = { ...edgeEnv, ADMISSION_KEYS: JSON.stringify({ keys: [jwk] }) }
/** These admissions are signed by a secret that the shop does not know. */
const withSecret = edgeEnv
const delivery = { kind: 'handover', return_url: 'https://shop.example/paid?from=drop', ask: {} } as const

async function orderIn(changes: object, sold = delivery as object) {
  const sale = await new TestSale().publish({ delivery: sold as typeof delivery & { ask: never } })
  const id = crypto.randomUUID()
  await stub(`/sales/${sale.name}/orders`, 200, { orders: [{ ...orderOf(sale.name, id), ...changes }] })
  const path = `/sales/${sale.name}/order/${id}`
  const go = (cookie = knownCookie(SECRET), env: Env = signing) =>
    call(`${path}/handover`, { headers: { accept: 'text/html', cookie } }, env)
  return { sale: sale.name, id, path, go }
}

const line = (product_id: string, quantity: number, status = 'sold') => ({
  ...{ line: 1, product_id, name: 'One', quantity, unit_price_minor: 100, status },
})

it.each([
  ['an Ed25519 key', signing, ['ed-1']],
  ['a secret', withSecret, [expect.stringMatching(/^handover-/)]],
])(
  'sends the buyer back with an order that the published keys verify, where %s signs admissions',
  async (_kind, env, kids) => {
    const lines = [line('one', 2), line('two', 1), line('one', 1), line('gone', 1, 'returned')]
    const { sale, id, go } = await orderIn({ status: 'confirmed', lines, short_number: 'K7Q-4MX', total_minor: 400 })
    const response = await go(undefined, env)
    expect(response.status).toBe(303)
    const to = new URL(response.headers.get('location') ?? '')
    const token = to.searchParams.get('order') ?? ''
    to.searchParams.delete('order')
    expect(to.href).toBe(delivery.return_url)
    const published: JSONWebKeySet = await (await call('/.well-known/handover-keys.json', {}, env)).json()
    expect(published.keys.map(({ kid, d }) => [kid, d])).toEqual(kids.map((kid) => [kid, undefined]))
    const keys = createLocalJWKSet(published)
    const options = { issuer: 'flash-sale-edge', audience: 'handover', algorithms: ['EdDSA'] }
    const { payload } = await jwtVerify(token, keys, options)
    const { iat = 0, exp = 0, iss: _, aud: __, ...claims } = payload
    expect(claims).toEqual({
      sub: id,
      sale,
      short_number: 'K7Q-4MX',
      total_minor: 400,
      currency: 'EUR',
      lines: [
        { product_id: 'one', quantity: 3 },
        { product_id: 'two', quantity: 1 },
      ],
    })
    expect(exp - iat).toBe(3_600)
  },
)

it('is no admission', async () => {
  const { sale, go } = await orderIn({ status: 'confirmed' })
  const token = new URL((await go()).headers.get('location') ?? '').searchParams.get('order')
  const headers = { authorization: `Bearer ${token}`, 'idempotency-key': 'k' }
  expect((await call(`/sales/${sale}/checkout`, { method: 'POST', headers }, signing)).status).toBe(429)
})

it('leads to the page of an order that is not paid, and nowhere for others or another delivery', async () => {
  const held = await orderIn({ status: 'reserved' })
  expect((await held.go()).headers.get('location')).toBe(held.path)
  const paid = await orderIn({ status: 'confirmed' })
  expect((await paid.go('')).status).toBe(404)
  expect((await (await orderIn({ status: 'confirmed' }, { kind: 'pickup', ask: {} })).go()).status).toBe(404)
})

it('answers an order that cannot be with a 500 problem, and logs what was assumed', async () => {
  const log = vi.spyOn(console, 'error')
  onTestFinished(() => log.mockRestore())
  const { product_id: _, ...nameless } = line('one', 1)
  const { path } = await orderIn({ status: 'confirmed', lines: [nameless] })
  const response = await call(`${path}/handover`, { headers: { cookie: knownCookie(SECRET) } }, signing)
  expect(response.status).toBe(500)
  expect(await response.json()).toMatchObject({ type: '/problems/internal-error', detail: 'You keep your place.' })
  const why = 'A line of an order has a product or a section.'
  const lines = log.mock.calls.map(([text]) => JSON.parse(String(text)))
  expect(lines).toMatchObject([{ msg: 'assertion failed', why }, { msg: 'request failed' }])
})
