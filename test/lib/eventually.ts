/** Waits for a state by polling, within one time limit for all tests. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import { POLL_WITHIN_MS } from '../run/patience.ts'

/** Repeats a question until the answer is right or the time is over. Returns the last answer in both cases. */
export async function eventually<T>(
  ask: () => Promise<T>,
  right: (answer: T) => boolean,
  withinMs = POLL_WITHIN_MS,
): Promise<T> {
  const until = Date.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (right(answer) || Date.now() > until) return answer
    await sleep(50)
  }
}

/**
 * Polls until the value matches or the time is over. It is for concurrent tests, which cannot share `expect.poll`.
 */
export const eventuallyMatches = (read: () => Promise<unknown>, wanted: object) =>
  vi.waitFor(async () => expect(await read()).toMatchObject(wanted), { timeout: POLL_WITHIN_MS, interval: 50 })
