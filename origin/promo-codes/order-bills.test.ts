/** What an order costs is what its bill says, through the real ledger and in every way it is summed up. */
import { randomUUIDv7 } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NO_DELIVERY, PromoCode } from '../../shared/api/goods.ts'
import { billOf } from '../../shared/bill.ts'
import { parse } from '../../shared/parse.ts'
import { addHall, SEATS } from '../../test/lib/hall.ts'
import { reservationOf, saleOf } from '../../test/lib/samples.ts'
import { useLedger } from '../../test/lib/servers.ts'
import { quoteOf } from '../checkout/cart/pricing.ts'
import { isFor } from '../checkout/cart/vouchers.ts'
import type { Cart } from '../ledger/cart.ts'
import { findOrder } from '../ledger/order-statements.ts'
import { record } from '../ledger/record.ts'
import { orderAt } from '../orders/order-json.ts'
import { readSales, writeSale } from '../sales/sale-queries.ts'
import { Chart } from '../seats/chart.ts'
import { readChart } from '../seats/seat-queries.ts'
import { cancelLines } from '../support/cancel-lines.ts'
import { writePromoCodes } from './promo-code-queries.ts'
import { PromoCodes } from './promo-codes.ts'

const sql = await useLedger()
const source = new PromoCodes(sql)

const percent = fc.integer({ min: 0, max: 100_000 }).map((thousandths) => thousandths / 1000)
const minor = fc.integer({ min: 0, max: 100_000 })
const fee = fc.record({
  name: fc.constantFrom('Service', 'Booking'),
  per: fc.constantFrom('unit' as const, 'order' as const),
  included: fc.boolean(),
  of: fc.oneof(
    percent.map((value) => ({ percent: value })),
    minor.map((value) => ({ amount_minor: value })),
  ),
})
const code = fc.record({
  of: fc.oneof(
    percent.map((value) => ({ percent: value })),
    fc.integer({ min: 1, max: 5_000 }).map((value) => ({ amount_minor: value })),
    minor.map((value) => ({ price_minor: value })),
  ),
  products: fc.constantFrom(null, ['one'], ['stalls']),
})
const sold = fc.record({
  price: minor,
  fees: fc.array(fee, { maxLength: 3 }),
  tax: fc.option(fc.record({ name: fc.constant('VAT'), percent, included: fc.boolean() })),
  codes: fc.array(code, { maxLength: 2 }),
  one: fc.integer({ min: 1, max: 5 }),
  floor: fc.integer({ min: 0, max: 2 }),
  seats: fc.uniqueArray(fc.nat(SEATS - 1), { minLength: 1, maxLength: 4 }),
  taken: fc.nat(2),
})

let sales = 0

test('stored, shown and summed up in SQL, with lines taken out too, it is the bill to the minor unit', async () => {
  await fc.assert(
    fc.asyncProperty(sold, async ({ price, fees, tax, codes, one, floor, seats, taken }) => {
      const sale = `bill-${++sales}`
      const terms = {
        products: saleOf(100).products.map((product) => ({ ...product, unit_price_minor: price })),
        tax,
        fees: fees.map(({ of, ...rest }) => ({ ...rest, ...of })),
        delivery: { ...NO_DELIVERY, kind: 'address' as const, prices: [{ amount_minor: 490 }] },
      }
      await writeSale(sql, sale, saleOf(100, { limit_per_visitor: 20, ...terms }))
      await addHall(sql, sale)
      const named = codes.map(({ of, products }, i) =>
        parse(PromoCode, { code: `C${i}`, ...of, products, combined: true }),
      )
      await writePromoCodes(sql, sale, named, 'ann')
      const row = (await readSales(sql, [sale])).sales.find(({ sale_id }) => sale_id === sale)
      const hall = await readChart(sql, sale)
      if (!row || !hall) throw new Error('no sale')
      const names = named.map(({ code }) => code)
      const found = (await source.ofOrder(sql, sale, names)).flatMap((one) => one ?? [])
      const chart = new Chart(hall.seats, hall.focalPoint)
      const units: Cart = [
        { product: 'one', quantity: one },
        ...(floor > 0 ? [{ product: 'floor', quantity: floor }] : []),
        { product: 'stalls', quantity: seats.length, seats },
      ]
      const quoted = quoteOf({ sale: row, vouchers: found, chart }, undefined, false)(units)
      if ('type' in quoted) throw new Error(quoted.detail)
      const r = { ...reservationOf(sale), order: randomUUIDv7(), quantity: one + floor + seats.length, ...quoted }
      expect(await record(sql, sale, [r], false)).toMatchObject([{ verdict: 'recorded' }])

      const lines = [
        { product: 'one', quantity: one, unit_price_minor: price },
        ...(floor > 0 ? [{ product: 'floor', quantity: floor, unit_price_minor: 500 }] : []),
        ...seats.map((seat) => ({ product: 'stalls', quantity: 1, unit_price_minor: 2_000 + seat })),
      ]
      const bill = billOf(lines, row, { currency: 'EUR', discounts: found.map(({ discount }) => discount) })
      const stored = await findOrder(sql, r.order)
      if (!stored || !bill) throw new Error('no order')
      expect(stored.bill).toEqual(bill.bill)
      expect(orderAt(stored, Date.now())).toMatchObject(bill.totals)
      const shares = (stored.cart ?? [])
        .slice(0, lines.length)
        .map((line) => line.share_minor ?? line.quantity * line.unit_price_minor)
      expect(shares).toEqual(bill.shares)
      const inSql = () => sql`
        select order_total(unit_price_minor, quantity, cart, bill)::float8 as total from orders
          where order_id = ${r.order}`
      expect(await inSql()).toEqual([{ total: bill.totals.total_minor }])

      const out = Array.from({ length: Math.min(taken, lines.length - 1) }, (_, i) => i + 1)
      if (out.length === 0) return
      const cancelled = await cancelLines({ sql, vouchers: [source] }, r.order, out, { operator: 'ann', key: null })
      if (!cancelled) throw new Error('not taken out')
      const left = lines.slice(out.length)
      const bought = left.map(({ product }) => ({ product_id: product, variant_of: null }))
      const holding = found.filter((one) => isFor(one, bought))
      const again = billOf(left, row, { currency: 'EUR', discounts: holding.map(({ discount }) => discount) })
      expect(orderAt(cancelled.order, Date.now())).toMatchObject(again?.totals ?? {})
      expect(await inSql()).toEqual([{ total: again?.totals.total_minor }])
      const uses = await sql`
        select product_id, held from products where sale_id = ${sale} and is_promo_code order by product_id`
      expect(uses).toEqual(
        found.map((one) => ({ product_id: `%${one.discount.code}`, held: holding.includes(one) ? 1 : 0 })),
      )
    }),
    { numRuns: 15 },
  )
})
