import { expect, test } from 'vitest'
import type { FrontRecord } from './evidence.ts'
import { frontChecks } from './front-checks.ts'

const FEED = '/sales/s/feed'
const REQUESTS = { front: 900, search: 300, feed: 500 }

/** `pages` are the times in milliseconds at which pages ran a Worker. */
function judged(pages: Readonly<Record<string, readonly number[]>>, changes: Partial<FrontRecord> = {}) {
  const fetches = Object.entries(pages).flatMap(([path, times]) => times.map((atMs) => ({ path, atMs })))
  const [only] = frontChecks({ front: { fetches, purgesMs: [], isWhole: true, requests: REQUESTS, ...changes } })
  return only
}

test('pages that run a Worker once a second each are good, and searches of free text are said apart', () => {
  const texts = { '/search?q=a': [5, 6, 7], '/search?q=b': [5] }
  const { holds, detail } =
    judged({ '/': [0, 6_000], [FEED]: [10, 1_010, 3_000], '/search/index?v=1': [20], ...texts }) ?? {}
  expect([holds, detail]).toEqual([
    true,
    '1,400 requests of 3 pages, 6 ran a Worker, at most 1 within a second (/); apart from them 300 searches of ' +
      'free text: 2 texts, 4 ran a Worker',
  ])
})

test.each(['/', '/search/index?v=1', '/search/suggest?q=reh', FEED, `${FEED}/1`])(
  'twice within a second is too often for %s',
  (path) => {
    const { holds, detail } = judged({ [path]: [5_900, 100, 5_000], '/other': [5_500] }) ?? {}
    expect([holds, detail]).toEqual([false, expect.stringContaining(`at most 2 within a second (${path})`)])
  },
)

test('what a cache took back of a sale is fetched once more, and nothing else is', () => {
  const purged = { purgesMs: [1_500] }
  expect(judged({ [FEED]: [1_000, 1_600] }, purged)?.holds).toBe(true)
  expect(judged({ [FEED]: [1_000, 1_600, 1_700] }, purged)?.holds).toBe(false)
  expect(judged({ '/': [1_000, 1_600] }, purged)?.holds).toBe(false)
})

test('judges nothing where nobody came, not all was written down, or no cache stands before the edge', () => {
  expect(judged({}, { requests: { front: 0, search: 0, feed: 0 } })?.holds).toBeNull()
  expect(judged({ '/': [1, 2] }, { isWhole: false })?.holds).toBeNull()
  expect(frontChecks({ front: null })).toEqual([])
})
