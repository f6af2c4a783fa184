/** The chart as pages download it: complete, in the order of the sale's sections, and no larger than it must be. */
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { ProductRow } from '../ledger/sale-row.ts'
import { chartDocument } from './chart-document.ts'
import type { ChartRow } from './seat-queries.ts'

const sectionOf = (product_id: string, section_type: ProductRow['section_type']): ProductRow => ({
  ...{ product_id, name: `The ${product_id}`, unit_price_minor: 100, currency: 'EUR', section_type },
  ...{ total: 10, buffer: 0, held: 0, sold: 0, limit_per_visitor: null, weight_grams: null, has_terms: false },
  ...{ variant_of: null, variant: null, sku: null },
})

const seat = (index: number, section: string, category: string, priceMinor: number): ChartRow['seats'][number] => ({
  ...{ index, section, seat: `${section}-${index}`, row: 'A', number: String(index), place: index },
  ...{ x: index / 3, y: 100 / 7, category, kind: 'standard', priceMinor },
})

test('has the sections of a sale in its order, their seats, and the prices of each category', () => {
  const hall = {
    version: 4,
    focalPoint: { x: 0, y: -1 },
    outlines: { box: [[0, 1 / 3] as const] },
    seats: [seat(0, 'box', 'best', 900), seat(1, 'stalls', 'good', 500), seat(2, 'box', 'good', 700)],
  }
  const types = { stalls: 'reserved', mug: null, box: 'reserved', floor: 'general_admission' } as const
  const products = Object.entries(types).map(([section, type]) => sectionOf(section, type))
  const document = chartDocument(hall, products)
  expect(document).toMatchObject({
    version: 4,
    focal_point: { x: 0, y: -1 },
    categories: [
      { category: 'best', price_minor: 900 },
      { category: 'good', price_minor: 500, price_to_minor: 700 },
    ],
    sections: [
      { section_id: 'stalls', name: 'The stalls', type: 'reserved', seats: [{ seat_id: 'stalls-1', place: 1 }] },
      {
        section_id: 'box',
        outline: [[0, 0.333]],
        seats: [
          { x: 0, y: 14.286 },
          { x: 0.667, price_minor: 700 },
        ],
      },
      { section_id: 'floor', type: 'general_admission', seats: [] },
    ],
  })
  expect(document.sections[0]).not.toHaveProperty('outline')
})

test('takes some 135 bytes a seat in a hall of 20,000, and a tenth of that on its way', () => {
  const seats = Array.from({ length: 20_000 }, (_, n): ChartRow['seats'][number] => {
    const [section, row, number] = [Math.floor(n / 400), Math.floor((n % 400) / 20), n % 20]
    const place = { x: section * 23.7 + number * 0.55 * Math.cos(section), y: row * 0.9 + number * Math.sin(section) }
    const names = { seat: `${row}-${number}`, row: String(row), number: String(number) }
    return { ...seat(n, `block-${section}`, `category-${section % 5}`, 5_000), ...place, ...names }
  })
  const products = Array.from({ length: 50 }, (_, n) => sectionOf(`block-${n}`, 'reserved'))
  const text = JSON.stringify(chartDocument({ version: 1, focalPoint: { x: 0, y: 0 }, outlines: {}, seats }, products))
  expect(text.length).toBeLessThan(20_000 * 140)
  expect(gzipSync(text).length).toBeLessThan(text.length / 10)
})
