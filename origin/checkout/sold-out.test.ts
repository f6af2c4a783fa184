import { pino } from 'pino'
import { expect, test } from 'vitest'
import { useLedger } from '../../test/lib/servers.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { SaleMemory } from '../sales/sale-memory.ts'
import type { Sales } from '../sales/sales.ts'
import { SoldOut } from './sold-out.ts'

const sql = await useLedger()
const sales = { isLedgerUnresponsive: () => false, nowMs: () => 1 } as Sales
const soldOutOf = (units: number, products_version = units) =>
  ({
    sale_id: 'sale',
    opens_at: new Date(0),
    ends_at: null,
    ended_at: null,
    paused: false,
    products_version,
    products: [{ product_id: 'one', total: units, buffer: 0, held: 0, sold: units }],
  }) as unknown as SaleRow

test('knows that a sale is sold out, and again after a restock that no newcomer met', async () => {
  const soldOut = new SoldOut(sql, sales, new SaleMemory(), pino({ level: 'silent' }))
  for (const sale of [soldOutOf(1), soldOutOf(2)]) {
    expect(soldOut.isFor(sale, 'one', 'newcomer')).toBe(false)
    soldOut.noteEmpty(sale, 'one')
    await expect.poll(() => soldOut.isFor(sale, 'one', 'newcomer')).toBe(true)
  }
  const restocked = soldOutOf(3)
  soldOut.noteEmpty(restocked, 'one')
  await expect.poll(() => soldOut.isFor(restocked, 'one', 'newcomer')).toBe(true)
})

test('asks anew after a unit that came back and was sold again, though as many are sold as before', async () => {
  const soldOut = new SoldOut(sql, sales, new SaleMemory(), pino({ level: 'silent' }))
  soldOut.noteEmpty(soldOutOf(1, 7), 'one')
  await expect.poll(() => soldOut.isFor(soldOutOf(1, 7), 'one', 'newcomer')).toBe(true)
  // The row between was never read here.
  expect(soldOut.isFor(soldOutOf(1, 9), 'one', 'newcomer')).toBe(false)
  expect(soldOut.isFor(soldOutOf(1, 7), 'one', 'newcomer')).toBe(false)
})
