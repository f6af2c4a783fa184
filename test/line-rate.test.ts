/**
 * The origin measures the values that control a queue's rate, and the edge follows them. In these tests visitors make
 * their calls as slow as they like.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openingPace, paceAfter } from '../edge/queue/pace/congestion.ts'
import { AnswerSamples } from '../origin/queue/answer-samples.ts'

const TARGET_MS = 500
const RATE = 100
const HONEST = 45
const LIARS = HONEST / 9
/** A liar makes this many calls a second. */
const CALLS = 40

test('a tenth of the visitors, however slow and often they make their calls, takes nothing of the rate of a line', () => {
  const lies = fc.array(fc.double({ min: 0, max: 60_000, noNaN: true }), { minLength: LIARS, maxLength: LIARS })
  fc.assert(
    fc.property(fc.array(lies, { minLength: 1, maxLength: 20 }), (seconds) => {
      const samples = new AnswerSamples()
      let pace = openingPace(RATE)
      for (const [second, slow] of seconds.entries()) {
        const nowMs = second * 1_000
        for (let call = 0; call < CALLS; call++)
          for (const [i, tookMs] of slow.entries()) samples.add(`liar ${i}`, tookMs, nowMs + call)
        for (let i = 0; i < HONEST; i++) samples.add(`honest ${i}`, 20, nowMs + i)
        const delayMs = samples.note(nowMs + 500) ?? 0
        pace = paceAfter(
          pace,
          { elapsedSeconds: 1, rate: RATE, delayMs, isOverloaded: false, arriving: RATE },
          TARGET_MS,
        )
        expect(pace.throttle).toBe(1)
      }
    }),
  )
})
