import { expect, test } from 'vitest'
import { byTerms } from './gate.ts'

test('a batch is cut where the terms of a sale have changed, and keeps the order of its calls', () => {
  const before = { holdMs: 90_000, limit: 2, demand: [1], variants: {} }
  const after = { ...before, limit: 1 }
  const calls = [before, { ...before, demand: [2] }, after, after, before].map((terms, i) => ({ i, terms }))
  expect(byTerms(calls).map((group) => group.map(({ i }) => i))).toEqual([[0, 1], [2, 3], [4]])
  expect(byTerms([])).toEqual([])
})
