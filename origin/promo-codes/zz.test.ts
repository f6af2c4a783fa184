import { test } from 'vitest'
import { PromoCode } from '../../shared/api/goods.ts'
import { parse } from '../../shared/parse.ts'
import { saleOf } from '../../test/origin-process.ts'
import { useLedger } from '../../test/servers.ts'
import { writeSale, readSales } from '../sales/sale-queries.ts'
import { readPromoCodes, writePromoCodes } from './promo-code-queries.ts'
import { miscountedCodes, readCounters } from '../stock/reconciliation-queries.ts'
const sql = await useLedger()
const timed = async (what: string, f: () => Promise<unknown>) => { const t = performance.now(); await f(); console.log(what, Math.round(performance.now() - t)) }
test('x', async () => {
  await writeSale(sql, 'x', saleOf(10))
  const codes = Array.from({ length: 10_000 }, (_, i) => parse(PromoCode, { code: `C${i}`, percent: 10, uses: 1 }))
  for (let i = 0; i < 3; i++) {
  await timed('write', () => writePromoCodes(sql, 'x', codes, 'ann'))
  await timed('read', () => readPromoCodes(sql, 'x'))
  await timed('counters', () => readCounters(sql, 'x'))
  await timed('miscounted', () => miscountedCodes(sql, 'x'))
  await timed('sales', () => readSales(sql, ['x']))
  await timed('again', () => writeSale(sql, 'x', saleOf(10)))
  }
}, 100000)
