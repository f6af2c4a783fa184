import { describe, expect, it } from 'vitest'
import { ORDER_STATUSES } from '../../shared/api.ts'
import { problem } from '../../shared/problem.ts'
import { PHASES, type Schedule, STATUSES } from '../../shared/schedule.ts'
import { html } from './html.ts'
import { renderSale, type SaleView } from './index.ts'
import { LANGUAGES } from './words.ts'

const NOW = Date.parse('2026-11-27T12:00:00Z')
const EVIL = `"><script>alert('1')</script>`

function view(changes: Partial<SaleView> = {}, schedule: Partial<Schedule> = {}): SaleView {
  return {
    sale: 'demo',
    state: {
      sale: 'demo',
      name: EVIL,
      phase: 'open',
      pre_queue_opens_at: '2026-11-27T11:00:00Z',
      opens_at: '2026-11-27T12:00:00Z',
      ends_at: null,
      hold_seconds: 90,
      limit_per_visitor: 2,
      products: [
        { product_id: 'one', name: EVIL, unit_price_minor: 12900, currency: 'EUR', total: 5, available: 2 },
      ],
      server_time_ms: NOW,
    },
    schedule: {
      sale: 'demo',
      version: 1,
      phase: 'open',
      anchor_at_ms: NOW,
      anchor_position: 10,
      rate_per_second: 2,
      ceiling: 1_000,
      missed_through: 0,
      pre_queue_size: 0,
      draw_commitment: 'ab'.repeat(32),
      draw_seed: 'cd'.repeat(32),
      draw_beacon: null,
      pre_queue_opens_at: '2026-11-27T11:00:00Z',
      opens_at: '2026-11-27T12:00:00Z',
      ends_at: null,
      server_time_ms: NOW,
      ...schedule,
    },
    place: null,
    number: null,
    nowMs: NOW,
    lang: 'en',
    brand: { name: EVIL },
    ...changes,
  }
}

const place = (status: (typeof STATUSES)[number]) => ({
  status,
  position: 50,
  position_in_queue: 40,
  now_serving: 10,
  estimated_wait_time: 20,
})
const order = (status: (typeof ORDER_STATUSES)[number]) => ({
  order_id: '01a1fcb1-824e-74eb-bb3e-e54755d9709e',
  sale: 'demo',
  product_id: 'one',
  quantity: 1,
  unit_price_minor: 12900,
  currency: 'EUR',
  status,
  reserved_until: '2026-11-27T12:01:30Z',
  expires_in_seconds: 90,
  created_at: '2026-11-27T12:00:00Z',
})

const pages: [string, SaleView][] = [
  ...PHASES.map((phase): [string, SaleView] => [`the phase ${phase}`, view({}, { phase })]),
  ...STATUSES.map((status): [string, SaleView] => [
    `the place ${status}`,
    view({ place: place(status), number: 50 }),
  ]),
  ...ORDER_STATUSES.map((status): [string, SaleView] => [
    `an order ${status}`,
    view({ order: order(status) }),
  ]),
  ['a problem', view({ problem: problem('sold-out', { detail: EVIL }) })],
]

describe.each(LANGUAGES)('in %s', (lang) => {
  it.each(pages)('the page of %s is whole, escaped, and free of inline script and style', (_name, one) => {
    const { html: text } = renderSale({ ...one, lang })
    expect(text).toMatch(/^<!doctype html>/)
    expect(text).toContain(`<html lang="${lang}">`)
    expect(text).toContain('<h1')
    expect(text).not.toContain('<script>alert')
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|undefined|NaN|\[object/)
    expect(text.match(/<main/g)).toHaveLength(1)
  })
})

it('a language that we do not speak is answered in English', () => {
  expect(renderSale(view({ lang: 'xx' })).html).toContain('<html lang="en">')
})

it('what is put into a template is escaped, unless it is HTML already', () => {
  expect(html`<p title="${'"'}">${['<', html`<b>${'&'}</b>`, 1, null, false]}</p>`.text).toBe(
    '<p title="&#34;">&#60;<b>&#38;</b>1</p>',
  )
})
