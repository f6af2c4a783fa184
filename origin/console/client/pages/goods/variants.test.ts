import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Body } from '../sale-form/draft.ts'
import {
  labelOf,
  type Option,
  unitsOf,
  type Variant,
  valuesIn,
  variantsAfter,
  variantsOf,
  withOptions,
} from './variants.ts'

const SIZES: Option = { name: 'Size', values: ['38', '39', '40'] }
const COLOURS: Option = { name: 'Colour', values: ['black', 'white'] }
const change = { before: [], variants: [], base: 'aurora', taken: ['aurora'] }
const sizes = variantsAfter({ ...change, after: [SIZES] }).map((variant, i) => ({ ...variant, total: 10 * (i + 1) }))
const totals = (variants: readonly Variant[]) => variants.map((one) => [labelOf(one), one.variant_id, one.total])

describe('variants', () => {
  it('are all combinations of the values, each with an id that they suggest', () => {
    const both = variantsAfter({ ...change, after: [SIZES, COLOURS] })
    expect(both.map(labelOf)).toEqual(['38, black', '38, white', '39, black', '39, white', '40, black', '40, white'])
    expect(both[3]).toEqual({ variant_id: 'aurora-39-white', options: { Size: '39', Colour: 'white' }, total: '' })
    const taken = variantsAfter({ ...change, taken: ['aurora-38'], after: [{ name: 'サイズ', values: ['38', '大'] }] })
    expect(taken.map((one) => one.variant_id)).toEqual(['aurora-38-2', 'aurora'])
  })

  it('keep what was said of them when values are added, removed, moved or renamed, and when an option is', () => {
    const to = (values: readonly string[], name = 'Size') =>
      totals(variantsAfter({ ...change, before: [SIZES], variants: sizes, after: [{ name, values }] }))
    const [first, second, third] = [
      ['38', 'aurora-38', 10],
      ['39', 'aurora-39', 20],
      ['40', 'aurora-40', 30],
    ]
    expect(to(['40', '41', '38', '39'])).toEqual([third, ['41', 'aurora-41', ''], first, second])
    expect(to(['38', '40'])).toEqual([first, third])
    expect(to(['38', '39.5', '40'], 'EU size')[1]).toEqual(['39.5', 'aurora-39', 20])
  })

  it('take the first value of a new option, and lose that of one that is removed', () => {
    const both = variantsAfter({ ...change, before: [SIZES], variants: sizes, after: [SIZES, COLOURS] })
    expect(totals(both).slice(0, 2)).toEqual([
      ['38, black', 'aurora-38', 10],
      ['38, white', 'aurora-38-white', ''],
    ])
    const again = variantsAfter({ ...change, before: [SIZES], variants: both, after: [SIZES] })
    expect(totals(again)).toEqual(totals(sizes))
  })

  it('come back with what was said of them', () => {
    const after = [{ name: 'Size', values: ['38', '39', '40', '41'] }]
    const back = variantsAfter({ ...change, before: [{ name: 'Size', values: ['38'] }], after, remembered: sizes })
    expect(back.map(({ total }) => total)).toEqual([10, 20, 30, ''])
  })

  it('are at most one more than can be sold, whatever is typed', () => {
    const many = Array.from({ length: 60 }, (_, i) => String(i))
    const after = ['a', 'b', 'c'].map((name) => ({ name, values: many }))
    expect(variantsAfter({ ...change, after })).toHaveLength(101)
  })

  it('have ids and combinations of their own, whatever the options are', () => {
    const option = fc.record({
      name: fc.string({ maxLength: 3 }),
      values: fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 5 }),
    })
    const options = fc.uniqueArray(option, { maxLength: 3, selector: ({ name }) => name })
    fc.assert(
      fc.property(options, options, (before, after) => {
        const variants = variantsAfter({ ...change, after: before })
        const next = variantsAfter({ ...change, before, variants, after })
        const ids = next.map(({ variant_id }) => variant_id)
        expect(new Set(ids).size).toBe(ids.length)
        expect(new Set(next.map(({ options }) => JSON.stringify(Object.entries(options).sort()))).size).toBe(ids.length)
      }),
    )
  })

  it('share the units of their product, whatever is typed first, until somebody says otherwise', () => {
    const product = { product_id: 'aurora', name: 'Aurora', total: 100, buffer: 4 }
    const none = { remembered: [], taken: ['aurora'] }
    const split = (from: Body, ...lists: (readonly string[])[]) =>
      lists.reduce<{ readonly of: Body; readonly before: readonly Option[] }>(
        ({ of, before }, values) => {
          const after = values.length > 0 ? [{ name: 'Size', values }] : []
          return { of: withOptions(of, { ...none, before, after }), before: after }
        },
        { of: from, before: (from.options ?? []) as unknown as readonly Option[] },
      ).of
    const units = (of: Body) => variantsOf(of).map(({ total, buffer }) => [total, buffer])
    expect(split(product, ['4'])).toMatchObject({ total: 0, buffer: 0, variants: [{ total: 100, buffer: 4 }] })
    const three = split(product, ['4'], ['41'], ['41', '42'], ['41', '42', '43'])
    expect(units(three)).toEqual([
      [34, 2],
      [33, 1],
      [33, 1],
    ])
    expect(split(three, ['41'], [])).toMatchObject({ total: 100, buffer: 4 })
    const typed = { ...three, variants: variantsOf(three).map((one, i) => ({ ...one, total: i })) } as Body
    expect(units(split(typed, ['41', '42', '43', '44'])).map(([total]) => total)).toEqual([0, 1, 2, ''])
    const saved = { ...three, variants: variantsOf(three).map((one) => ({ ...one, sold: 0 })) } as Body
    expect(units(split(saved, ['41', '42', '43', '44'])).map(([total]) => total)).toEqual([34, 33, 33, ''])
  })

  it('are read from lists as people write them, and add up', () => {
    expect(valuesIn(' 38, 39;40\n 38 ,,')).toEqual(['38', '39', '40'])
    expect([unitsOf(sizes), unitsOf(variantsAfter({ ...change, after: [SIZES] }))]).toEqual([60, null])
  })
})
