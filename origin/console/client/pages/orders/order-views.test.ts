/** The counts of the views add up, and their times are those of the operator's own days. */
import { expect, test } from 'vitest'
import { countIn, filtersIn, isShown, madeInWords, timesOf, VIEWS } from './order-views.ts'

const COUNTS = {
  counts: { reserved: 3, paying: 2, confirmed: 40, fulfilled: 10, expired: 4, cancelled: 5, refunded: 1 },
  problems: 2,
}
const now = new Date(2026, 10, 29, 15, 30)
const day = (date: number) => new Date(2026, 10, date).toISOString()

test('what the views count adds up to all orders', () => {
  const [all, ...parts] = VIEWS.filter(({ isProblem }) => !isProblem).map((view) => countIn(view, COUNTS) ?? 0)
  expect(all).toBe(65)
  expect(parts.reduce((sum, one) => sum + one)).toBe(all)
  expect(VIEWS.map((view) => countIn(view, { counts: null, problems: null }))).toEqual(VIEWS.map(() => undefined))
})

test('a view is shown by its statuses, whatever the other filters are', () => {
  const shown = (search: Parameters<typeof isShown>[1]) =>
    VIEWS.filter((view) => isShown(view, search)).map(({ name }) => name)
  expect(shown({ sale: 'spring' })).toEqual(['All'])
  expect(shown({ status: 'confirmed,fulfilled', made: 'today' })).toEqual(['Paid'])
  expect(shown({ problem: 'true' })).toEqual(['To look at'])
  expect(shown({ status: 'confirmed' })).toEqual([])
  expect(filtersIn(new URLSearchParams('q=mary&status=paying&sale=spring'))).toBe('sale=spring&status=paying')
})

test.each([
  ['today', { from: day(29) }, 'today'],
  ['yesterday', { from: day(28), to: day(29) }, 'yesterday'],
  ['7d', { from: day(23) }, 'in the last 7 days'],
  ['2026-11-02..2026-11-04', { from: day(2), to: day(5) }, 'from 2026-11-02 to 2026-11-04'],
  ['2026-11-02..2026-11-02', { from: day(2), to: day(3) }, 'on 2026-11-02'],
  ['2026-11-02..', { from: day(2) }, 'from 2026-11-02 on'],
  ['..2026-11-02', { to: day(3) }, 'until 2026-11-02'],
  ['once', {}, 'once'],
])('made %s', (made, times, words) => {
  expect(timesOf(made, now)).toEqual(times)
  expect(madeInWords(made)).toBe(words)
})
