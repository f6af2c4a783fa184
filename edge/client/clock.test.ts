import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ServerClock } from './clock.ts'

it('is never ahead of the server’s, and as late as its quickest message', () => {
  const delays = fc.array(fc.nat(20_000), { minLength: 1, maxLength: 30, size: 'max' })
  fc.assert(
    fc.property(delays, fc.nat(1e12), (delaysMs, bootMs) => {
      const server = (momentMs: number) => bootMs + momentMs
      const [first = 0, ...rest] = delaysMs
      const clock = new ServerClock()
      clock.read(server(0), 0, first)
      rest.forEach((delayMs, i) => {
        const sentMs = (i + 1) * 50_000
        clock.read(server(sentMs), sentMs - delayMs, sentMs + delayMs)
      })
      const nowMs = 1e7
      expect(server(nowMs) - clock.at(nowMs)).toBe(Math.min(...delaysMs))
    }),
  )
})

it('is right again after a sleep, in which elapsed time stood still', () => {
  const clock = new ServerClock()
  clock.read(1_000_000, 0, 0)
  const sleptMs = 3_600_000
  clock.read(1_000_000 + 10_000 + sleptMs + 50, 10_000, 10_100)
  expect(clock.at(10_100)).toBe(1_000_000 + 10_050 + sleptMs)
})

it('follows a server whose clock was put back', () => {
  const clock = new ServerClock()
  clock.read(1_000_000, 0, 0)
  clock.read(900_000, 900, 1_000)
  expect(clock.at(1_000)).toBe(900_000)
})
