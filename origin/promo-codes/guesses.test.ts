import { expect, test } from 'vitest'
import type { ProblemError } from '../../shared/problem.ts'
import { Guesses } from './guesses.ts'

const NETWORKS = '203.0.113.7=24 203.0.113=48'

/** Counts how many of `count` codes are looked up before a refusal. All codes are wrong unless they are known. */
function tried(guesses: Guesses, from: { visitor: string; networks?: string }, calls: number, nowMs = 0, wrong = 5) {
  let codes = 0
  try {
    for (let call = 0; call < calls; call++, codes += 5) guesses.begin(from, 5, nowMs)(wrong)
  } catch (error) {
    expect((error as ProblemError).problem).toMatchObject({ type: '/problems/too-many-requests' })
  }
  return codes
}

test('a visitor, an address and the network around it name so many unknown codes in a minute', () => {
  const guesses = new Guesses()
  const ann = { visitor: 'ann', networks: NETWORKS }
  expect(tried(guesses, ann, 128)).toBe(20)
  // The limit counts another visitor, and the same visitor from another network, separately.
  expect(tried(guesses, { ...ann, visitor: 'bob' }, 128)).toBe(0)
  expect(tried(guesses, { ...ann, networks: '192.0.2.1=24' }, 128)).toBe(0)
  expect(tried(guesses, { visitor: 'cid', networks: '203.0.113.8=24 203.0.113=48' }, 128)).toBe(20)
  expect(tried(guesses, { visitor: 'dan', networks: '203.0.113.9=24 203.0.113=48' }, 128)).toBe(0)
  expect(tried(guesses, ann, 128, 60_000)).toBe(20)
})

test('those of calls in progress count as wrong until they are not, and known ones never', () => {
  const guesses = new Guesses()
  const office = { visitor: 'ann', networks: NETWORKS }
  const ends = Array.from({ length: 4 }, () => guesses.begin(office, 5, 0))
  expect(tried(guesses, office, 1)).toBe(0)
  for (const end of ends) end(0)
  expect(tried(guesses, office, 128, 0, 0)).toBe(640)
  expect(tried(guesses, { visitor: 'ann' }, 128)).toBe(640)
})
