import fc from 'fast-check'
import { expect, it } from 'vitest'
import { CountSum } from '../queue/counts.ts'
import { sampleOf, UPSTREAM_TIMEOUT_MS } from './answer-times.ts'

const SECOND = { beganMs: 5_000, tookMs: 20, status: 200 as number | null, hasBody: false }
const answersOf = (sum: CountSum) => Object.values(sum.sum().answers)

it.each([
  ['an answer', {}, 20],
  ['an answer with an error of the site', { status: 502 }, 20],
  ['no answer', { status: null }, UPSTREAM_TIMEOUT_MS],
  ['a refusal', { status: 403 }, undefined],
  ['a request with a body, which its sender can hold back', { hasBody: true, tookMs: 9_000 }, undefined],
])('%s is a sample of what it took', (_what, answer, ms) => {
  const { answers = {} } = sampleOf({ ...SECOND, visitor: 'ann', ...answer }, 'secret')
  expect(Object.values(answers)).toEqual(ms === undefined ? [] : [ms])
})

it('counts a session once a second, however many calls it makes in whatever isolates', () => {
  const [one, other, room] = [new CountSum(), new CountSum(), new CountSum()]
  for (let i = 0; i < 100; i++) {
    const slow = { ...SECOND, visitor: 'eve', beganMs: 5_000 + 9 * i, tookMs: 60_000 }
    ;(i % 2 === 0 ? one : other).add(sampleOf(slow, 'secret'))
  }
  for (const visitor of ['ann', 'bob', 'cid']) one.add(sampleOf({ ...SECOND, visitor }, 'secret'))
  for (const isolate of [one, other]) room.add(isolate.sum())
  expect(answersOf(room).toSorted((a, b) => a - b)).toEqual([20, 20, 20, 60_000])
})

it('a tenth of liars is less than a quarter of the samples, whether they come first or last', () => {
  fc.assert(
    fc.property(fc.integer({ min: 200, max: 600 }), fc.string(), fc.boolean(), (honest, secret, isFirst) => {
      const sum = new CountSum()
      const call = (visitor: string, tookMs: number) => sum.add(sampleOf({ ...SECOND, visitor, tookMs }, secret))
      const lie = () => Array.from({ length: honest / 9 }, (_, i) => call(`liar ${i}`, 60_000))
      if (isFirst) lie()
      for (let i = 0; i < honest; i++) call(`honest ${i}`, 20)
      if (!isFirst) lie()
      const answers = answersOf(sum)
      expect(answers).toHaveLength(64)
      expect(answers.filter((ms) => ms > 20).length).toBeLessThan(64 / 4)
    }),
    { numRuns: 4, seed: 7 },
  )
})
