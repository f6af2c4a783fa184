import { expect, test } from 'vitest'
import { lastDue, nextTime } from './times.ts'

const at = (time: string) => Date.parse(`2026-11-20T${time}Z`)
const iso = (date: Date) => date.toISOString().slice(11, 16)

test('cron has five fields', () => {
  expect(iso(nextTime('*/15 * * * *', 'UTC', at('20:00:00')))).toBe('20:15')
  expect(iso(nextTime('30 21 * * *', 'UTC', at('20:00:00')))).toBe('21:30')
  for (const wrong of ['', '* * * *', '* * * * * *', '61 * * * *', '0 0 30 2 *', '@hourly'])
    expect(() => nextTime(wrong, 'UTC', at('20:00:00'))).toThrow()
})

test.each([
  ['of missed runs only the last is due', '*/10 * * * *', '20:00:00', '20:35:00', '20:30'],
  ['a run that is not late is due itself', '*/10 * * * *', '20:00:00', '20:00:01', '20:00'],
  ['a run at this very moment counts', '*/10 * * * *', '20:00:00', '20:10:00', '20:10'],
  ['a run that is taken a moment early is due itself', '*/10 * * * *', '20:10:00', '20:09:59', '20:10'],
  ['a single missed run is due, however long ago', '0 3 * * *', '03:00:00', '20:35:00', '03:00'],
])('%s', (_, cron, due, now, run) => {
  expect(iso(lastDue(cron, 'UTC', at(due), at(now)))).toBe(run)
})

test.each([
  [
    'a daily action is at the hour of its zone, in summer and in winter',
    '0 9 * * *',
    '2026-10-23T22:00:00Z',
    ['2026-10-24T07:00', '2026-10-25T08:00'],
  ],
  [
    'a time that the zone skips is taken when the clocks go forward',
    '30 2 * * *',
    '2026-03-28T12:00:00Z',
    ['2026-03-29T01:30', '2026-03-30T00:30'],
  ],
  [
    'a time that the zone has twice is taken the first time',
    '30 2 * * *',
    '2026-10-24T12:00:00Z',
    ['2026-10-25T00:30', '2026-10-26T01:30'],
  ],
])('%s', (_, cron, after, times) => {
  let atMs = Date.parse(after)
  for (const time of times) {
    atMs = nextTime(cron, 'Europe/Berlin', atMs).getTime()
    expect(new Date(atMs).toISOString().slice(0, 16)).toBe(time)
  }
})
