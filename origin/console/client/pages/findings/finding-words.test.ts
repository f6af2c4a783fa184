import { expect, test } from 'vitest'
import { aboutOf, type Finding, hrefOf, titleOf, verdictOf } from './finding-words.ts'

const finding: Finding = {
  finding: '7',
  sale: 'aurora',
  sale_name: 'Aurora One',
  kind: 'webhook_failed',
  product_id: null,
  units: 2,
  seen: 1,
  reason: 'It answers 503: its server fails',
  level: 'watch',
  advice: 'Mend it.',
  place: { text: 'Go to the stock', href: '#stock' },
  first_seen_at: '2026-11-27T12:00:00.000Z',
  closed_at: null,
  outcome: null,
}

test('says how many things need somebody, and whether now', () => {
  expect(verdictOf([])).toEqual({ level: 'good', text: 'All is as it should be. Nothing needs you.' })
  expect(verdictOf([{ level: 'watch' }])).toEqual({ level: 'watch', text: 'One thing needs you.' })
  expect(verdictOf([{ level: 'watch' }, { level: 'bad' }])).toEqual({ level: 'bad', text: 'Two things need you now.' })
})

test('names what it is about, and leads to a page that exists', () => {
  expect(titleOf(finding)).toBe('Webhook failed')
  expect(aboutOf(finding)).toBe('Aurora One, 2 units, it answers 503: its server fails')
  expect(hrefOf(finding)).toBe('/console/sales/aurora#stock')
  expect(hrefOf({ ...finding, place: { text: '', href: '/console/queues#mail' } })).toBe('/console/queues#mail')
  expect(hrefOf({ ...finding, sale: null })).toBe('/console/queues')
})
