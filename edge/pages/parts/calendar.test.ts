import { expect, it } from 'vitest'
import { scheduleIn } from '../../preview/samples.ts'
import type { SaleView } from '../view.ts'
import { WORDS } from '../words/words.ts'
import { openingCalendar } from './calendar.ts'

const NOW_MS = Date.parse('2026-11-27T12:00:00Z')
const schedule = { ...scheduleIn('pre_queue', NOW_MS), line: 'members' }
const view = {
  sale: 'demo',
  schedule,
  host: 'https://shop.example',
  nowMs: NOW_MS,
  words: WORDS.ja,
  state: { name: 'Night, Swim; "first"\npressing 夜の水泳、夜の水泳、夜の水泳、夜の水泳、夜の水泳' },
} as unknown as SaleView

it('is an event that a calendar reads, and that a later version of it replaces', () => {
  const text = openingCalendar(view)
  const lines = text.split('\r\n')
  expect(lines.pop()).toBe('')
  for (const line of lines) {
    expect(line).not.toMatch(/[\r\n]/)
    expect(new TextEncoder().encode(line).length, line).toBeLessThanOrEqual(75)
  }
  const unfolded = text.replaceAll('\r\n ', '').split('\r\n')
  expect(unfolded).toEqual(
    expect.arrayContaining([
      'UID:demo-members@shop.example',
      'SEQUENCE:7',
      'DTSTAMP:20261127T120000Z',
      'DTSTART:20261127T121234Z',
      'DTEND:20261127T124234Z',
      `SUMMARY:${view.state.name.replace(/[,;]/g, '\\$&').replace('\n', '\\n')}`,
      'URL:https://shop.example/sales/demo',
    ]),
  )
})
