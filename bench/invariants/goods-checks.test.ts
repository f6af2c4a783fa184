import { expect, test } from 'vitest'
import { variantOf } from '../lib/demo-drop.ts'
import type { Evidence, GoodsRecords, GoodsVisit, VisitRecord } from './evidence.ts'
import { goodsChecks } from './goods-checks.ts'

/**
 * One pair costs 189 euros and 1.50 for packing, a tenth less with the code, and 4.90 for shipping to Germany, or
 * 6.90 from two pairs on.
 */
const ALONE = 18_900 + 150 + 490
const WITH_CODE = 18_900 - 1_890 + 150 + 990
const PAIR = 2 * 18_900 + 2 * 150 + 690

const asked = (changes: Partial<GoodsVisit>): GoodsVisit => ({
  product: variantOf('42'),
  quantity: 1,
  country: 'DE',
  broughtCode: false,
  hasCode: false,
  told: ALONE,
  ...changes,
})
const visit = (order: string, goods: GoodsVisit) => ({ order, goods }) as unknown as VisitRecord

function good() {
  const orders = new Map<string, GoodsRecords['orders'] extends ReadonlyMap<string, infer One> ? One : never>([
    ['a', { product: variantOf('42'), isLive: true, hasCode: false, total_minor: ALONE }],
    ['b', { product: variantOf('42'), isLive: true, hasCode: true, total_minor: WITH_CODE }],
    ['c', { product: variantOf('38'), isLive: true, hasCode: false, total_minor: PAIR }],
  ])
  const visits = [
    visit('a', asked({})),
    visit('b', asked({ country: 'AT', broughtCode: true, hasCode: true, told: WITH_CODE })),
    // The code was used up when they ordered.
    visit('c', asked({ product: variantOf('38'), quantity: 2, broughtCode: true, told: PAIR })),
  ]
  const code = { uses: 1, held: 0, sold: 1 }
  return { goods: { orders, code }, visits, ownSystem: true, operator: { orders: new Map(), failed: [] } }
}

type Case = ReturnType<typeof good>
const judged = (change: (evidence: Case) => void = () => {}) => {
  const evidence = good()
  change(evidence)
  return goodsChecks(evidence as unknown as Evidence).flatMap(({ what, holds }) => (holds ? [] : what))
}
const order = ({ goods }: Case, id: string) =>
  goods.orders.get(id) as { total_minor: number; product: string; hasCode: boolean }

test('a drop in which each sum is right, and the code was used as often as it may be, is good', () => {
  expect(judged()).toEqual([])
})

test('a sum that is a cent off is found, in the ledger and in what a buyer was told', () => {
  const SUMS = ['every sum is right to the minor unit']
  expect(judged((e) => void order(e, 'a').total_minor++)).toEqual(SUMS)
  const told = asked({ product: variantOf('38'), quantity: 2, told: PAIR - 1 })
  expect(judged((e) => void e.visits.splice(2, 1, visit('c', told)))).toEqual(SUMS)
})

test('another size, and a code that was not counted, used once too often or left over, are found', () => {
  const CODES = 'a promo code is used as often as it may be'
  expect(judged((e) => void Object.assign(order(e, 'c'), { product: variantOf('39') }))).toHaveLength(1)
  expect(judged((e) => void Object.assign(e.goods.code, { sold: 0 }))).toEqual([CODES])
  expect(judged((e) => void Object.assign(e.goods.code, { held: 1 }))).toEqual([CODES])
  expect(judged((e) => void Object.assign(order(e, 'c'), { hasCode: true }))).toContain(CODES)
  const oneMore = (e: Case) => {
    e.visits.splice(0, 1, visit('a', asked({ broughtCode: true })))
    Object.assign(e.goods.code, { uses: 2 })
  }
  expect(judged(oneMore)).toEqual([CODES])
})
