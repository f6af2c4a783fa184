/** Support finds an order by any detail that a buyer can name. */
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { shortNumber } from '../../shared/format.ts'
import { eventually } from '../../test/lib/eventually.ts'
import { addHall } from '../../test/lib/hall.ts'
import { readToTheEnd } from '../../test/lib/origin-process.ts'
import { reservationOf, saleOf } from '../../test/lib/samples.ts'
import { useLedger } from '../../test/lib/servers.ts'
import type { Cart } from '../ledger/cart.ts'
import { advanceOrders, moveOrders } from '../ledger/order-statements.ts'
import { record } from '../ledger/record.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { searchRounds } from './indexer.ts'
import { findOrderIds, type Search } from './order-search.ts'
import { insertNote } from './support-queries.ts'

const sql = await useLedger(4)
const find = async (text: string, rest: Partial<Search> = {}) =>
  (await findOrderIds(sql, { text, limit: 50, ...rest })).ids

const product = (product_id: string, name: string) => {
  const price = { unit_price_minor: 1000, currency: 'EUR' }
  return { product_id, name, ...price, total: 100, buffer: 0 }
}

const round = searchRounds(sql, Number.POSITIVE_INFINITY)
const follow = () => readToTheEnd(sql, 'search', round)

interface Details extends Readonly<Partial<Record<'visitor' | 'product' | 'email' | 'address', string>>> {
  readonly number?: number
}

async function order(sale: string, { email, address, ...details }: Details = {}) {
  const own = { visitor: randomUUID(), key: randomUUID() }
  const reservation = { ...reservationOf(sale), ...own, ...details }
  await record(sql, sale, [reservation], false)
  if (email || address)
    await sql`insert into contacts (order_id, sale_id, email, address, delete_after)
      values (${reservation.order}, ${sale}, ${email ?? null}, ${address ?? null}, now() + interval '1 day')`
  return reservation.order
}

beforeAll(async () => {
  await writeSale(sql, 'spring', saleOf(100, { products: [product('one', 'Runner Nine'), product('two', 'Blue Cap')] }))
  await writeSale(sql, 'autumn', saleOf(100, { products: [product('one', 'Parka')] }))
})

describe('an order is found', async () => {
  let id: string
  let short: string
  beforeAll(async () => {
    const contact = { email: 'Anna.Schmidt@example.com', address: '203.0.113.9' }
    id = await order('spring', { visitor: 'user:kim-7', number: 4711, ...contact })
    for (let i = 0; i < 20; i++) await order('spring', { email: `someone.else${i}@example.com`, number: 5000 + i })
    const [row] = await sql<[{ number: number }]>`select number from orders where order_id = ${id}`
    short = shortNumber(Number(row.number))
    await moveOrders(sql, [id], { from: ['reserved'], to: 'paying' })
    await advanceOrders(sql, [{ order: id, charge: 'ch_Abc123xyz' }], { from: ['paying'], to: 'confirmed' })
    await follow()
    await insertNote(sql, id, { operator: 'eva', text: 'The parcel was damaged; sends a photograph tomorrow.' })
  })

  test.each([
    ['its short number', () => short],
    ['its short number without the dash, in small letters', () => short.replace('-', ' ').toLowerCase()],
    ['its number', () => id],
    ['its number in capitals, without dashes', () => id.replaceAll('-', '').toUpperCase()],
    ['the beginning of its number', () => id.slice(0, 30)],
    ['its visitor', () => 'user:kim-7'],
    ['its account', () => 'kim-7'],
    ['the beginning of its account', () => 'kim'],
    ['its address', () => '203.0.113.9'],
    ['the beginning of its address', () => '203.0.'],
    ['its mail address', () => 'anna.schmidt@EXAMPLE.com'],
    ['the beginning of its mail address', () => 'anna.s'],
    ['a part of its mail address', () => 'schmidt@'],
    ['its charge', () => 'ch_Abc123xyz'],
    ['the beginning of its charge', () => 'ch_Abc'],
    ['its ticket number', () => '4711'],
    ['its sale and ticket number', () => 'spring #4711'],
    ['words of its note', () => 'photograph parcel'],
    ['the beginning of a word of its note', () => 'photogr'],
    ['the beginnings of several words of its note', () => 'parc photogr'],
    ['its mail address with a letter too few', () => 'ana.schmidt@example.com'],
    ['its mail address with letters swapped', () => 'anna.schimdt'],
    ['a word of its note with a wrong letter', () => 'fotograph'],
    ['a word of its note with letters swapped', () => 'photogarph'],
  ])('by %s', async (_, text) => {
    expect(await find(text())).toEqual([id])
  })

  test('and not by the ticket number of another sale, nor by what is in none', async () => {
    for (const text of ['autumn #4711', 'no such thing', `'); --`, '%', '\\', 'a:b & !c'])
      expect(await find(text)).toEqual([])
  })

  test('no more by a contact that was deleted, and still by its number', async () => {
    const gone = await order('spring', { email: 'forgotten.person@example.com', address: '198.51.100.77' })
    await follow()
    expect(await find('forgotten.person')).toEqual([gone])
    await sql`delete from contacts where order_id = ${gone}`
    for (const text of ['forgotten.person@example.com', 'forgoten.person', '198.51.100.77'])
      expect(await find(text)).toEqual([])
    expect(await sql`select from search_words where word like 'forgotten%'`).toHaveLength(0)
    expect(await find(gone)).toEqual([gone])
    await sql`update orders set visitor = 'forgotten' where order_id = ${gone}`
    expect(await find('forgotten')).toEqual([gone])
    await sql`delete from orders where order_id = ${gone}`
    expect(await find(gone)).toEqual([])
    await sql`delete from order_notes where order_id = ${id}`
    expect(await find('photograph')).toEqual([])
  })
})

test('by its product, filtered and page after page, each order once', async () => {
  await writeSale(sql, 'winter', saleOf(100, { products: [product('one', 'Ice Skates')] }))
  const all: string[] = []
  for (let i = 0; i < 7; i++) all.push(await order('winter'))
  // If two orders were made in the same millisecond, either may count as the newer one.
  all.sort().reverse()
  await setTimeout(2)
  const [cap, cancelled = ''] = [await order('spring', { product: 'two' }), all[3]]
  await moveOrders(sql, [cancelled], { from: ['reserved'], to: 'cancelled' })
  await follow()
  expect(await find('skates')).toEqual(all)
  expect(await find('blue cap')).toEqual([cap])
  expect(await find('', { sale: 'spring', product: 'two' })).toEqual([cap])
  expect(await find('', { sale: 'winter', statuses: ['cancelled'] })).toEqual([cancelled])
  expect(await find('skates', { statuses: ['cancelled'] })).toEqual([cancelled])
  expect(await find('skates', { sale: 'spring' })).toEqual([])
  expect((await find('')).slice(0, 1)).toEqual([cap])
  for (const text of ['skates', '']) {
    const seen: string[] = []
    let after: string | null | undefined
    do {
      const page = await findOrderIds(sql, { text, sale: 'winter', limit: 3, ...(after && { after }) })
      seen.push(...page.ids)
      after = page.next
    } while (after)
    expect(seen).toEqual(all)
  }
})

test('by any of its products, its sections and its seats', async () => {
  await writeSale(sql, 'opera', saleOf(100, { limit_per_visitor: 9, products: [product('one', 'Libretto')] }))
  await addHall(sql, 'opera')
  const book = (cart: Cart, visitor = randomUUID()) => {
    const quantity = cart.reduce((sum, part) => sum + part.quantity, 0)
    const r = { ...reservationOf('opera'), visitor, key: randomUUID(), product: cart[0]?.product ?? '', quantity, cart }
    return record(sql, 'opera', [r], false).then(() => r.order)
  }
  const both = await book([
    { product: 'one', quantity: 1 },
    { product: 'stalls', quantity: 2, seats: [10, 11] },
  ])
  await setTimeout(2)
  const seat = await book([{ product: 'stalls', quantity: 1, seats: [1] }])
  await setTimeout(2)
  const plain = await order('opera')
  await follow()
  expect(await find('stalls')).toEqual([seat, both])
  expect(await find('libretto')).toEqual([plain, both])
  expect(await find('s11')).toEqual([both])
  expect(await find('opera s1 ')).toEqual(expect.arrayContaining([seat]))
  expect(await find('', { sale: 'opera' })).toEqual([plain, seat, both])
  expect(await find('', { sale: 'opera', product: 'stalls' })).toEqual([seat, both])
  expect(await find('s11', { product: 'stalls' })).toEqual([both])
  expect(await find('s11', { product: 'floor' })).toEqual([])
  await moveOrders(sql, [both], { from: ['reserved'], to: 'cancelled' })
  await follow()
  expect(await find('', { sale: 'opera', product: 'stalls', statuses: ['reserved'] })).toEqual([seat])
  expect(await find('', { sale: 'opera', product: 'stalls', statuses: ['cancelled'] })).toEqual([both])
  await sql`delete from orders where order_id = ${both}`
  expect(await sql`select from order_search_products where order_id = ${both}`).toHaveLength(0)
  expect(await find('stalls')).toEqual([seat])
})

test('in a rush the copies wait, and buyers come first', async () => {
  await follow()
  // The indexer copies one order in a hundred seconds.
  const slow = searchRounds(sql, 0.01)
  const first = await order('spring', { email: 'rush@example.org' })
  await eventually(
    async () => {
      await slow()
      return sql`select from order_search where order_id = ${first}`
    },
    (rows) => rows.length === 1,
  )
  const later = await order('spring', { email: 'later@example.org' })
  for (let i = 0; i < 3; i++) expect(await slow()).toBe(false)
  expect(await sql`select from order_search where order_id = ${later}`).toHaveLength(0)
  await follow()
  expect(await find('later@example.org')).toEqual([later])
})
