import { expect, it } from 'vitest'
import { realWaits } from './real-waits.ts'

const minute = (at: number, gauges: Record<string, number>) => ({ minute: new Date(at * 60_000).toISOString(), gauges })

it('a wait lasts until as many were called as had a number', () => {
  const minutes = [
    minute(0, { numbers_given: 100, called: 0 }),
    minute(1, { numbers_given: 150, called: 90 }),
    minute(2, {}),
    minute(3, { numbers_given: 150, called: 150 }),
    minute(4, { numbers_given: 160, called: 155 }),
  ]
  // The 100th is called 10 of 60 positions after the second minute's end, in the two minutes that follow.
  expect(realWaits(minutes)).toEqual([80, 120, null, 0, null])
})

it('goes by the time of the report, not by the end of its minute', () => {
  const at = (ms: number) => ({ edge_at_ms: ms })
  const minutes = [
    minute(0, { numbers_given: 40, called: 0, ...at(59_000) }),
    // Two a second, in the first twenty seconds of a minute that still runs.
    minute(1, { numbers_given: 60, called: 40, ...at(79_000) }),
  ]
  expect(realWaits(minutes)).toEqual([20, null])
})
