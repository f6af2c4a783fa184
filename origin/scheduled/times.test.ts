import { expect, test } from 'vitest'
import { nextRun, nextTime } from './times.ts'

const at = (time: string) => Date.parse(`2026-11-20T${time}Z`)
const iso = (date: Date) => date.toISOString().slice(11, 16)

test('cron has five fields, in UTC', () => {
  expect(iso(nextTime('*/15 * * * *', at('20:00:00')))).toBe('20:15')
  expect(iso(nextTime('30 21 * * *', at('20:00:00')))).toBe('21:30')
  for (const wrong of ['', '* * * *', '* * * * * *', '61 * * * *', '0 0 30 2 *', '@hourly'])
    expect(() => nextTime(wrong, at('20:00:00'))).toThrow()
})

test('missed runs are made up for one after the other, for an hour', () => {
  expect(iso(nextRun('*/10 * * * *', at('20:00:00'), at('20:35:00')))).toBe('20:10')
  expect(iso(nextRun('*/10 * * * *', at('12:00:00'), at('20:35:00')))).toBe('19:40')
})
