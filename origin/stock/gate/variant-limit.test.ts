/** The limit of a product counts its variants together: in one cart and over several orders, at both gates. */

import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { reservationOf, saleOf } from '../../../test/lib/samples.ts'
import { useLedger, useRedis } from '../../../test/lib/servers.ts'
import type { CartPart } from '../../ledger/cart.ts'
import { record } from '../../ledger/record.ts'
import { writeSale } from '../../sales/sale-queries.ts'
import { defineScripts } from '../scripts.ts'
import { Gate } from './gate.ts'

const sql = await useLedger()
const server = useRedis()

test('the variants of a product share its limit at both gates, also within a cart', async () => {
  const redis = defineScripts(new Redis(server.url))
  onTestFinished(() => redis.disconnect())
  const sizes = ['41', '42']
  const shoe = {
    product_id: 'shoe',
    name: 'Shoe',
    unit_price_minor: 1000,
    currency: 'EUR',
    total: 0,
    buffer: 0,
    limit: 2,
  }
  const variants = sizes.map((size) => ({ variant_id: size, options: { size }, total: 10, buffer: 0 }))
  const options = [{ name: 'size', values: sizes }]
  await writeSale(sql, 'shoes', saleOf(0, { limit_per_visitor: 10, products: [{ ...shoe, options, variants }] }))
  const gate = new Gate(redis, 'shoes')
  await (await gate.fence()).open(sizes.map((product) => ({ product, available: 10, held: 0 })))

  const share = (value: unknown) => Object.fromEntries(sizes.map((size) => [size, value]))
  const terms = { holdMs: 60_000, limit: 10, demand: [], limits: share(2), variants: share(sizes) } as never
  const cart = (visitor: string, ...parts: CartPart[]) => {
    const quantity = parts.reduce((sum, part) => sum + part.quantity, 0)
    const r = reservationOf('shoes')
    return { ...r, key: r.order, visitor, cart: parts, product: parts[0]?.product ?? '', quantity }
  }
  const [one, two] = [
    { product: '41', quantity: 1 },
    { product: '42', quantity: 2 },
  ]
  const [first, again, atOnce] = [cart('ann', one), cart('ann', two), cart('bob', one, two)]
  expect(await gate.reserve(first, terms)).toMatchObject({ verdict: 'reserved' })
  expect(await gate.reserve(again, terms)).toMatchObject({ verdict: 'product_limit', product: '42', units: 1 })
  expect(await gate.reserve(atOnce, terms)).toMatchObject({ verdict: 'product_limit', product: '41', units: 0 })

  expect(await record(sql, 'shoes', [atOnce], false)).toMatchObject([{ verdict: 'limit' }])
  const verdicts = await record(sql, 'shoes', [first, again], false)
  expect(verdicts).toMatchObject([{ verdict: 'recorded' }, { verdict: 'limit', product: '42' }])
  await gate.settle([{ ...first, how: 'release' }])
  expect(await gate.reserve(again, terms)).toMatchObject({ verdict: 'reserved' })
})
