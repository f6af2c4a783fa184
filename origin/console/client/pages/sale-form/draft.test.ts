import { describe, expect, it } from 'vitest'
import { differencesBetween } from './changes/differences.ts'
import {
  type Body,
  configOf,
  copyOf,
  fromRead,
  idFrom,
  isOn,
  namedProduct,
  newBody,
  withoutSections,
  withValue,
  wrongIn,
} from './draft.ts'
import { span, warningsIn } from './outlook/warnings.ts'

const NOW_MS = Date.parse('2026-11-22T20:00:00Z')
const withValues = (body: Body, values: Readonly<Record<string, unknown>>) =>
  Object.entries(values).reduce((made, [path, value]) => withValue(made, path, value as never), body)
const sale = withValues(newBody(NOW_MS), {
  name: 'Night Swim',
  'products.0.product_id': 'vinyl',
  'products.0.name': 'Vinyl',
  'products.0.unit_price_minor': 3_900,
  'products.0.total': 10_000,
})

describe('a sale as it is written', () => {
  it('is wrong in the words of the API, at the paths of its errors', () => {
    expect(Object.fromEntries(wrongIn(newBody(NOW_MS), ''))).toMatchObject({
      name: 'must not be empty',
      sale: expect.stringContaining('letters, digits'),
      'products.0.unit_price_minor': 'a number is required',
    })
    const wrong = wrongIn(withValue(sale, 'products.0.buffer', 10_001), 'night-swim')
    expect([...wrong]).toEqual([['products.0.buffer', 'must not be more than the total']])
    expect(wrongIn(sale, 'night-swim').size).toBe(0)
  })

  it('leaves the sections of a hall to their own pages', () => {
    const [product] = sale.products as readonly Body[]
    const section = { ...product, product_id: 'stalls', name: 'Stalls', section_type: 'reserved', buffer: 0 }
    const read = { ...sale, products: [product, section], chart_version: 2 } as Body
    expect(withoutSections(read).products).toEqual([product])
    // Seats that were blocked meanwhile do not count as a change of the sale.
    const blocked = { ...read, products: [product, { ...section, buffer: 3 }] } as Body
    expect(differencesBetween(read, blocked)).toEqual([])
  })

  it('is compared by what an operator sets, products by their id', () => {
    const read = { ...sale, phase: 'open', server_time: '2026-11-22T20:00:00Z' }
    expect(differencesBetween(read, sale)).toEqual([])
    const changed = withValues(sale, {
      'products.0.total': 12_000,
      'products.0.unit_price_minor': 4_250,
      ends_at: '2026-11-24T11:00:00.000Z',
    })
    expect(differencesBetween(read, changed)).toEqual([
      { path: 'ends_at', before: null, after: '2026-11-24T11:00:00.000Z' },
      { path: 'products.0.unit_price_minor', before: 3_900, after: 4_250 },
      { path: 'products.0.total', before: 10_000, after: 12_000 },
    ])
  })

  it('is copied with all but its times, which move to the day to come at the same hour', () => {
    const times = { opens_at: '2026-06-01T17:30:00.000Z', ends_at: '2026-06-01T19:30:00.000Z' }
    const before: Body = { ...sale, ...times, phase: 'ended', pre_queue_opens_at: '2026-06-01T17:00:00.000Z' }
    const copy = copyOf(before, NOW_MS)
    expect(configOf(copy)).toEqual(copy)
    const moved = [copy.opens_at, copy.ends_at, copy.pre_queue_opens_at]
    const [opens, ends, lobby] = moved.map((at) => new Date(String(at)))
    expect(opens?.getDate()).toBe(new Date(NOW_MS).getDate() + 1)
    expect(opens?.getHours()).toBe(new Date(times.opens_at).getHours())
    expect(Number(ends) - Number(opens)).toBe(2 * 3_600_000)
    expect(Number(opens) - Number(lobby)).toBe(1_800_000)
    expect(differencesBetween(before, { ...copy, ...times, pre_queue_opens_at: '2026-06-01T17:00:00.000Z' })).toEqual(
      [],
    )
  })

  it('has goods, whose variants are compared by their ids', () => {
    const variants = ['38', '39'].map((size, i) => ({ variant_id: `vinyl-${size}`, options: { size }, total: i }))
    const before = withValues(sale, {
      'products.0.options': [{ name: 'size', values: ['38', '39'] }],
      'products.0.variants': variants,
      'products.0.total': 0,
      'brand.shop': 'Halfway',
      fees: [{ name: 'Service', amount_minor: 250, per: 'order' }],
      'products.0.currency': 'JPY',
    })
    const after = withValues(before, {
      'products.0.variants.1.unit_price_minor': 4_000,
      'brand.shop': 'Home',
      'fees.0.amount_minor': 300,
    })
    expect(wrongIn(after, 'night-swim').size).toBe(0)
    expect(differencesBetween(before, after)).toEqual([
      { path: 'brand.shop', before: 'Halfway', after: 'Home' },
      { path: 'fees', before: before.fees, after: after.fees },
      { path: 'products.0.variants.1.unit_price_minor', before: undefined, after: 4_000 },
    ])
    // Fields that only a GET has do not count as changes, and a variant without its own price follows its product's.
    const units = { held: 0, sold: 0, available: 0, buffer: 0 }
    const sizes = variants.map((variant) => ({ ...variant, ...units, unit_price_minor: 3_900 }))
    const products = (before.products as readonly Body[]).map((product) => {
      const read = { ...product, ...units, section_type: null, has_terms: false }
      return { ...read, variants: sizes }
    })
    const read = { ...before, products } as Body
    expect(differencesBetween(configOf(before), configOf(fromRead(read)))).toEqual([])
    expect(configOf(fromRead(read))).toEqual(configOf(before))
  })

  it('finds the page of a field, and removes one that is left out', () => {
    const paths = ['products.0.variants.2.total', 'tax.percent', 'products.0.name', 'opens_at', 'delivery.kind']
    const pages = paths.map((path) => (['sale', 'goods'] as const).filter((part) => isOn(part, path)))
    expect(pages).toEqual([['goods'], ['goods'], ['sale', 'goods'], ['sale'], ['sale']])
    const branded = withValue(sale, 'brand', { shop: 'Halfway', accent: '#000000' })
    expect(withValue(branded, 'brand.accent', undefined).brand).toEqual({ shop: 'Halfway' })
  })

  it('has products with ids that their names suggest, until somebody types another, or they are saved', () => {
    const idAfter = (body: Body, name: string, saved: readonly string[] = []) =>
      (namedProduct(body, 0, name, saved).products as readonly Body[])[0]?.product_id
    const typed = namedProduct(newBody(NOW_MS), 0, 'Vin', [])
    expect([idAfter(typed, 'Vinyl'), idAfter(typed, 'レコード'), idAfter(typed, 'Vinyl', ['vin'])]).toEqual([
      'vinyl',
      '',
      'vin',
    ])
    expect(idAfter(withValue(typed, 'products.0.product_id', 'lp'), 'Vinyl')).toBe('lp')
    const two = { ...typed, products: [...(typed.products as readonly Body[]), { product_id: 'vinyl', name: 'Old' }] }
    expect(idAfter(two, 'Vinyl')).toBe('vinyl-2')
  })

  it('has an id that its name suggests', () => {
    expect(idFrom('Näht Swim — first pressing!')).toBe('naht-swim-first-pressing')
  })
})

describe('a forecast', () => {
  it('says how long the stock lasts', () => {
    expect([span(8), span(200), span(9_960)]).toEqual(['8 seconds', '3:20 minutes', '2:46 hours'])
  })

  it('warns of what is likely a mistake, and of nothing else', () => {
    const told = { ...sale, expected_visitors: 5_000 }
    expect([...warningsIn(told, NOW_MS, false)]).toEqual([])
    const fields = (changes: Body, isOpen = false) => [...warningsIn({ ...told, ...changes }, NOW_MS, isOpen).keys()]
    expect(fields({ expected_visitors: null })).toEqual(['expected_visitors'])
    expect(fields({ expected_visitors: null }, true)).toEqual([])
    expect(fields({ opens_at: '2026-11-22T19:00:00Z' })).toEqual(['opens_at'])
    expect(fields({ opens_at: '2026-11-22T19:00:00Z' }, true)).toEqual([])
    expect(fields({ ends_at: new Date(Date.parse(String(sale.opens_at)) + 60_000).toISOString() })).toEqual(['ends_at'])
    expect(fields({ admission: { rate_per_second: 1 } })).toEqual(['admission.rate_per_second'])
    expect(fields({ admission: { rate_per_second: 5_000 } })).toEqual(['admission.rate_per_second'])
    expect(fields({ limit_per_visitor: 10_001 })).toEqual(['limit_per_visitor'])
  })
})
