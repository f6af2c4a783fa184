import { expect, test } from 'vitest'
import { verdictOf, wrongText } from './verdict.ts'

type Judged = Parameters<typeof verdictOf>[0]

const units = { sold: 10, held: 0, free: 0, withheld: 0, total: 10 }
const figures = { sold_out_at: '2026-11-27T12:06:00Z', ended_at: null, duration_seconds: 418, units }
const line = (holds: boolean | null, before_turn: number | null = 0) =>
  ({ before_turn, draw: { holds, drawn: 40 } }) as Judged['fairness'][number]
const found = (until: string | null) => ({ kind: 'finding', until }) as Judged['incidents'][number]
const soldOut: Judged = { phase: 'sold_out', figures, fairness: [line(true)], incidents: [] }
const judge = (changes: Partial<Judged>) => Object.values(verdictOf({ ...soldOut, ...changes }))

test('the verdict says how the sale ended, whether its order holds, and what is open', () => {
  expect(judge({})).toEqual(['good', 'Sold out in about 6:58, in the order of the draw. Nothing is open.'])
  expect(judge({ fairness: [line(null)] })).toEqual(['good', 'Sold out in about 6:58. Nothing is open.'])
  expect(judge({ incidents: [found('2026-11-27T12:10:00Z')] })[0]).toBe('good')
  expect(judge({ incidents: [found(null)] })).toEqual([
    'watch',
    'Sold out in about 6:58, in the order of the draw. One finding is open.',
  ])
  expect(judge({ fairness: [line(true), line(false)] })[0]).toBe('bad')
  expect(judge({ fairness: [line(true, 1)] })[1]).toContain('somebody ordered before their turn')
  const some = { ...figures, sold_out_at: null, units: { ...units, sold: 4, free: 6 } }
  expect(judge({ phase: 'ended', figures: some, fairness: [] })).toEqual([
    'good',
    'Over, with 4 of 10 sold. Nothing is open.',
  ])
  expect(judge({ phase: 'open', figures: some })[0]).toBe('info')
})

test('what went wrong is counted by its findings alone', () => {
  const action = { kind: 'action', until: null } as Judged['incidents'][number]
  expect(wrongText({ incidents: [action] })).toBe('Nothing was found wrong.')
  expect(wrongText({ incidents: [action, found(null), found(null)] })).toBe('2 things went wrong.')
})
