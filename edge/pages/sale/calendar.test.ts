import { expect, it } from 'vitest'
import { NO_DELIVERY } from '../../../shared/api/goods.ts'
import { scheduleIn } from '../../preview/sample-sale.ts'
import type { SaleView } from '../view.ts'
import { WORDS } from '../words/words.ts'
import { eventCalendar, openingCalendar } from './calendar.ts'

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

it('is the date of what is sold, at its place', () => {
  const goods = { version: 3, brand: null, venue: 'Pier 4, Berlin', products: {} }
  const event = { starts_at: '2026-12-12T19:00:00.000Z', ends_at: null, time_zone: 'Europe/Berlin' }
  const unfolded = (text: string) => text.replaceAll('\r\n ', '').split('\r\n')
  const lines = unfolded(eventCalendar({ ...view, goods }, event))
  for (const line of [
    'UID:demo-event@shop.example',
    'SEQUENCE:3',
    'DTSTART:20261212T190000Z',
    'LOCATION:Pier 4\\, Berlin',
    'URL:https://shop.example/sales/demo',
  ])
    expect(lines).toContain(line)
  expect(lines.filter((line) => /^(DTEND|BEGIN:VALARM)/.test(line))).toEqual([])
  const pickup = { ...view.state, delivery: { ...NO_DELIVERY, kind: 'pickup' as const, pickup: 'Harbour Street 4' } }
  const pickedUp = { ...view, state: pickup, goods: { ...goods, venue: null } }
  const until = { ...event, ends_at: '2026-12-12T22:30:00.000Z' }
  expect(unfolded(eventCalendar(pickedUp, until))).toEqual(
    expect.arrayContaining(['LOCATION:Harbour Street 4', 'DTEND:20261212T223000Z']),
  )
})
