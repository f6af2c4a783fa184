import fc from 'fast-check'
import { expect, test } from 'vitest'
import { takeTokens } from './token-bucket.ts'

test('in any time grants no more than the bucket holds and what it fills meanwhile, whoever asks when', () =>
  fc.assert(
    fc.property(
      fc.record({ perSecond: fc.integer({ min: 1, max: 500 }), most: fc.integer({ min: 1, max: 500 }) }),
      fc.integer({ min: 1, max: 3 }),
      fc.array(fc.record({ afterMs: fc.integer({ min: -50, max: 2_000 }), wanted: fc.nat(1_000) }), { minLength: 1 }),
      (limit, each, asked) => {
        let bucket = { tokens: limit.most, atMs: 0 }
        let [nowMs, elapsedMs, tokens] = [0, 0, 0]
        for (const { afterMs, wanted } of asked) {
          nowMs += afterMs
          // A clock that is put back gives nothing, and what follows counts.
          elapsedMs += Math.max(0, afterMs)
          const taken = takeTokens(bucket, nowMs, limit, wanted, each)
          expect(taken.granted).toBeLessThanOrEqual(wanted)
          bucket = taken.bucket
          tokens += taken.granted * each
          expect(tokens).toBeLessThanOrEqual(limit.most + (elapsedMs * limit.perSecond) / 1000 + 1e-6)
        }
      },
    ),
  ))
