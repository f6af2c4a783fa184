import { expect, test } from 'vitest'
import { nextSeen } from './eviction.ts'

test('intents that go while keys are evicted are lost at most, and those that go otherwise are recorded', () => {
  const evicting = (keys: number) => ({ policy: 'allkeys-lru', keys })
  const looks = [
    [null, 18, 0],
    [null, 12, 0],
    [evicting(0), 10, 0],
    [evicting(3), 4, 6],
    [evicting(3), 1, 6],
    [evicting(4), 0, 7],
    [null, 5, 0],
  ] as const
  let seen: ReturnType<typeof nextSeen> | undefined
  for (const [eviction, intents, lost] of looks) {
    seen = nextSeen(seen, intents, eviction)
    expect(seen).toEqual({ intents, keys: eviction?.keys ?? 0, lost })
  }
  // A worker that has only begun to look knows of no loss.
  expect(nextSeen(undefined, 0, evicting(9))).toEqual({ intents: 0, keys: 9, lost: 0 })
})
