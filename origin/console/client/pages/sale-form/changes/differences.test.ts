import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Body } from '../draft.ts'
import { decided, differencesBetween, mergedWith } from './differences.ts'

const vinyl = { product_id: 'vinyl', name: 'Vinyl', total: 100, sold: 3 }
const shirt = { product_id: 'shirt', name: 'Shirt', total: 20, sold: 0 }
const base: Body = {
  version: 'one',
  name: 'Night Swim',
  ends_at: null,
  max_unpaid_orders: 3,
  admission: { rate_per_second: 45, max_inside: null },
  products: [vinyl, shirt],
}
const with_ = (changes: Body): Body => ({ ...base, ...changes })

describe('the differences of two sales', () => {
  it('are found by the ids of products, and leave out what nobody sets', () => {
    const after = with_({
      version: 'two',
      products: [
        { ...shirt, total: 25, sold: 9 },
        { ...vinyl, sold: 4 },
      ],
    })
    expect(differencesBetween(base, after)).toEqual([{ path: 'products.0.total', before: 20, after: 25 }])
    expect(differencesBetween(base, with_({ products: [shirt] }))).toEqual([
      { path: 'products.vinyl', before: vinyl, after: undefined },
    ])
    expect(differencesBetween(with_({ mails: ['turn', 'sent'] }), with_({ mails: ['sent'] }))).toMatchObject([
      { path: 'mails' },
    ])
    expect(differencesBetween(base, { ...base, brand: null })).toEqual([])
  })
})

describe('two changes of one sale', () => {
  const mine = with_({ ends_at: '13:00', admission: { rate_per_second: 60, max_inside: null } })
  const theirs = with_({ version: 'two', ends_at: '14:00', max_unpaid_orders: 2 })

  it('are both kept, and where they conflict the operator decides', () => {
    const { body, conflicts, taken } = mergedWith(base, mine, theirs)
    expect(conflicts).toEqual([{ path: 'ends_at', base: null, mine: '13:00', theirs: '14:00' }])
    expect(taken).toEqual([{ path: 'max_unpaid_orders', before: 3, after: 2 }])
    expect(body).toMatchObject({ version: 'two', ends_at: '13:00', max_unpaid_orders: 2 })
    expect(body.admission).toEqual({ rate_per_second: 60, max_inside: null })
    const [conflict] = conflicts
    expect(conflict && decided(body, conflict, 'theirs').ends_at).toBe('14:00')
  })

  it('meet in a list by the ids of its elements', () => {
    const [record, added] = [
      { ...vinyl, total: 120 },
      { ...shirt, product_id: 'cap' },
    ]
    const sold = { ...vinyl, sold: 50, name: 'Vinyl, red' }
    const { body, conflicts, taken } = mergedWith(
      base,
      with_({ products: [record, shirt, added] }),
      with_({ products: [sold, { ...shirt, product_id: 'mug' }] }),
    )
    expect(conflicts).toEqual([])
    expect(body.products).toEqual([{ ...sold, total: 120 }, added, { ...shirt, product_id: 'mug' }])
    expect(taken.map(({ path }) => path)).toEqual(['products.0.name', 'products.1', 'products.shirt'])
  })

  it('that are alike need no decision', () => {
    const { conflicts, taken } = mergedWith(base, with_({ ends_at: '13:00' }), with_({ ends_at: '13:00' }))
    expect([conflicts, taken]).toEqual([[], []])
  })

  it('lose nothing: each field is mine, theirs or both, whatever was changed', () => {
    const value = fc.constantFrom(null, 1, 2, 3)
    const sale = fc.record({ a: value, b: fc.record({ c: value, d: value }) }) as fc.Arbitrary<Body>
    fc.assert(
      fc.property(sale, sale, sale, (old, one, other) => {
        const { body, conflicts } = mergedWith(old, one, other)
        for (const { path } of differencesBetween(old, one))
          expect(differencesBetween(one, body).map((each) => each.path)).not.toContain(path)
        for (const { path } of differencesBetween(other, body))
          expect(differencesBetween(old, one).map((each) => each.path)).toContain(path)
        for (const conflict of conflicts) expect(conflict.mine).not.toEqual(conflict.theirs)
      }),
    )
  })
})
