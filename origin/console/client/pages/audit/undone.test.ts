import { expect, test } from 'vitest'
import type { Entry } from './sentences.ts'
import { withUndoings } from './undone.ts'

const about = {
  sale: 's',
  sale_name: 'S',
  product_id: null,
  product_name: null,
  order_id: null,
  currency: null,
  is_parcel: null,
}
/** Entries are given in the order of time. */
const told = (...actions: (readonly [action: string, before: unknown, after: unknown, sale?: string])[]) => {
  const entries = actions.map(([action, before, after, sale = 's'], i): Entry => {
    const at = `2026-11-27T12:00:0${i}Z`
    return { ...about, sale, entry: String(i), at, operator: 'ada', action, before, after }
  })
  return withUndoings(entries.toReversed()).map(({ entry, undoing }) => [entry.entry, undoing?.entry ?? null])
}

test('a pause stands with the next resumption of its sale', () => {
  const [pause, resume] = [['paused', {}, {}] as const, ['resumed', {}, {}] as const]
  expect(told(pause, resume, pause)).toEqual([
    ['2', null],
    ['0', '1'],
  ])
  expect(told(pause, ['resumed', {}, {}, 'other'])).toEqual([
    ['1', null],
    ['0', null],
  ])
})

test('what was set back stands with its setting back, and what was set further does not', () => {
  const set = (from: number, to: number) => ['rate set', { rate_per_second: from }, { rate_per_second: to }] as const
  expect(told(set(30, 45), set(45, 30))).toEqual([['0', '1']])
  expect(told(set(30, 45), set(45, 60))).toEqual([
    ['1', null],
    ['0', null],
  ])
})

test('a post stands with its removal, and an announcement that was replaced does not', () => {
  const post = (n: number) => ['posted', null, { text: { en: `Post ${n}` } }] as const
  expect(told(post(1), post(2), ['post removed', { n: 1, text: { en: 'Post 1' } }, null])).toEqual([
    ['1', null],
    ['0', '2'],
  ])
  const announced = ['announced', null, { text: { en: 'Hello' } }] as const
  expect(told(announced, announced, ['announcement ended', { text: { en: 'Hello' } }, null])).toEqual([
    ['1', '2'],
    ['0', null],
  ])
})

test('a block stands with its own removal, not with that of another', () => {
  const [one, other] = [
    { block: '1', by: 'visitor' },
    { block: '2', by: 'visitor' },
  ]
  expect(told(['block added', null, one], ['block added', null, other], ['block removed', one, null])).toEqual([
    ['1', null],
    ['0', '2'],
  ])
})
