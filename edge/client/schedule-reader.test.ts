/** The page's script decides when to read the schedule. */
import { expect, it } from 'vitest'
import {
  IN_LINE,
  iso,
  look,
  NOW_MS,
  open,
  passes,
  schedule,
  stub,
  textOf,
  times,
  useBrowserPage,
} from './testing/browser-page.ts'

useBrowserPage()

it('shows the newest schedule, also when an older one comes after it', async () => {
  const older = { version: 10, anchor_position: 100 }
  stub.answer = () => schedule(times(/schedule$/) === 2 ? older : { version: 11, anchor_position: 200 })
  await open(IN_LINE, { number: '5000' })
  await passes(130_000)
  expect(times(/schedule$/)).toBe(2)
  expect(textOf('serving')).toBe('200')
  stub.answer = () => schedule({ version: 12, anchor_position: 300 })
  await passes(130_000)
  expect(textOf('serving')).toMatch(/^30\d$/)
})

it('fetches no sooner after a schedule that is older than its own', async () => {
  let version = 11
  stub.answer = () => schedule({ version: version-- > 10 ? 11 : 10, rate_per_second: 1 })
  await open(IN_LINE)
  await passes(40_000)
  expect(times(/schedule$/)).toBeLessThan(10)
})

it('stops the line some seconds after the last schedule, in case it stands still', async () => {
  stub.answer = () => schedule({ rate_per_second: 1 })
  await open(IN_LINE, { number: '5000' })
  await passes(5_000)
  expect(Number(textOf('serving'))).toBeGreaterThan(3)
  await passes(23_000)
  expect(times(/schedule$/)).toBe(1)
  expect(Number(textOf('serving'))).toBeLessThan(13)
})

it.each([1_600, 8_000])(
  'reads the schedule while somebody looks as often as it says: after %i ms',
  async (next_read_ms) => {
    stub.answer = () => schedule({ rate_per_second: 1, next_read_ms })
    await open(IN_LINE, { number: '5000' })
    await passes(10_000)
    expect(times(/schedule$/)).toBe(1)
    look()
    const before = times(/schedule$/)
    await passes(60_000)
    // A read comes up to a tenth earlier, and the response takes 20 ms. A read one beat later would be half a second
    // too late.
    expect(times(/schedule$/) - before).toBeGreaterThanOrEqual(Math.floor(60_000 / (next_read_ms + 20)))
    expect(times(/schedule$/) - before).toBeLessThanOrEqual(Math.ceil(60_000 / (0.9 * next_read_ms)) + 1)
  },
)

it('reads it while nobody looks as seldom as its page says', async () => {
  stub.answer = () => schedule({ rate_per_second: 1 })
  await open(IN_LINE, { number: '5000', poll: '20000' }, { beatMs: 2_000 })
  await passes(600_000)
  const reads = 600 / 20
  expect(times(/schedule$/)).toBeGreaterThan(0.9 * reads - 1)
  expect(times(/schedule$/)).toBeLessThanOrEqual(reads + 1)
})

it('fetches the schedule when the sale ends', async () => {
  stub.answer = () => schedule({ rate_per_second: 0.0001, ends_at: iso(12_000), ends_at_ms: NOW_MS + 12_000 })
  await open(IN_LINE)
  await passes(11_900)
  const before = times(/schedule$/)
  await passes(2_500)
  expect(times(/schedule$/)).toBe(before + 1)
})

const CDN = 'https://schedule.shop.example'
const atCdn = /^https:.*schedule$/
const atEdge = /^\/sales\/demo\/schedule$/

it('reads from a CDN where there is one, and nothing from the edge while it works', async () => {
  stub.answer = () => schedule({ anchor_position: 200 })
  await open(IN_LINE, { number: '5000', scheduleHost: CDN })
  await passes(300_000)
  expect(times(atCdn)).toBeGreaterThan(1)
  expect(times(atEdge)).toBe(0)
  expect(textOf('serving')).toMatch(/^20\d$/)
})

const old = () => schedule({ server_time_ms: Date.now() - 3_500 })
const NEVER = 3_600_000
it.each<[string, () => unknown, number]>([
  ['answers with an error', () => ({ status: 500, json: async () => ({ type: '/problems/try-again' }) }), 20],
  ['serves another page', () => ({ json: async () => JSON.parse('<html>') }), 20],
  ['hangs', () => schedule(), NEVER],
  ['serves an old copy', old, 20],
])(
  'reads from the edge within five seconds while the CDN %s, and from the CDN again a minute later',
  async (_, answer, inMs) => {
    stub.answersInMs = (path) => (atCdn.test(path) ? inMs : 20)
    stub.answer = (path) => (atCdn.test(path) ? answer() : schedule({ anchor_position: 200 }))
    look()
    await open(IN_LINE, { number: '5000', scheduleHost: CDN })
    await passes(4_600)
    expect(textOf('serving')).toMatch(/^20\d$/)
    await passes(25_000)
    expect(times(atCdn)).toBe(1)
    expect(times(atEdge)).toBeGreaterThan(1)
    stub.answersInMs = () => 20
    stub.answer = () => schedule({ anchor_position: 300 })
    await passes(70_000)
    const before = times(atEdge)
    await passes(30_000)
    expect(times(atEdge)).toBe(before)
    expect(times(atCdn)).toBeGreaterThan(1)
    expect(textOf('serving')).toMatch(/^30\d$/)
  },
)
