import { expect, test } from 'vitest'
import type { SaleRow } from '../../ledger/sale-row.ts'
import { clashOf, findVouchers, isFor, usableVouchers, type Voucher, type VoucherSource } from './vouchers.ts'

const voucher = ({ code = 'NOON', products = null as string[] | null, combined = false } = {}): Voucher => ({
  discount: { code, products, units_per_use: null, percent: 10 },
  combined,
  usesPerVisitor: null,
})
const shirt = { product_id: 'shirt-m', variant_of: 'shirt' }
const print = { product_id: 'print', variant_of: null }

test('a voucher holds for all products, or those that it names, and their variants', () => {
  expect(isFor(voucher(), [print])).toBe(true)
  expect(isFor(voucher({ products: ['shirt'] }), [print])).toBe(false)
  expect(isFor(voucher({ products: ['shirt'] }), [print, shirt])).toBe(true)
  expect(isFor(voucher({ products: ['shirt-m'] }), [shirt])).toBe(true)
})

test('a voucher holds beside others only where all may be combined, and once', () => {
  const asked = (code: string, combined: boolean) => voucher({ code, combined })
  expect(clashOf([asked('A', false)])).toBeUndefined()
  expect(clashOf([asked('A', true), asked('B', true)])).toBeUndefined()
  expect(clashOf([asked('A', true), asked('B', false)])).toMatchObject({ status: 422 })
  expect(clashOf([asked('A', true), asked('A', true)])).toMatchObject({ status: 422 })
})

test('each source is asked for every code, and one that none knows is refused, also without a source', async () => {
  const sourceOf = (...known: string[]): VoucherSource => {
    const find = async (codes: readonly string[]) =>
      codes.map((code) => (known.includes(code) ? voucher({ code }) : undefined))
    return {
      find: (_, codes) => find(codes),
      ofOrder: (_, __, codes) => find(codes),
      usedUp: async () => new Set(),
    }
  }
  const usable = async (sources: VoucherSource[], codes: string[]) =>
    usableVouchers(await findVouchers(sources, {} as SaleRow, codes, { visitor: 'ann' }, 0))
  const both = [sourceOf('A', 'B'), sourceOf('C')]
  expect(await usable(both, ['C', 'A'])).toMatchObject([{ discount: { code: 'C' } }, { discount: { code: 'A' } }])
  expect(await usable(both, ['A', 'X'])).toMatchObject({ type: '/problems/promo-code-unknown', promo_code: 'X' })
  expect(await usable([], ['A'])).toMatchObject({ status: 422, promo_code: 'A' })
  expect(await usable([], [])).toEqual([])
})
