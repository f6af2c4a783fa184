/** The clocks of the origin and the edge differ, and no wait depends on it. */
import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import type { Problem } from '../../shared/problem.ts'
import { TestSale } from '../testing/visitors.ts'

const HOUR_MS = 3_600_000

/** A sale of an origin whose clock is an hour behind: all its moments of the next hour have passed here. */
function saleBehind(opensInMs: number, { lobbyInMs = -1_000, endsInMs = 7_200_000 } = {}) {
  const there = (inMs: number) => new Date(Date.now() - HOUR_MS + inMs).toISOString()
  return new TestSale(opensInMs).publish({
    pre_queue_opens_at: there(lobbyInMs),
    pre_queue_opens_in_ms: lobbyInMs,
    opens_at: there(opensInMs),
    ends_at: there(endsInMs),
    ends_in_ms: endsInMs,
  })
}

/** Milliseconds left on a page's countdown. */
const countedDown = (page: string, to: string) =>
  Date.parse(new RegExp(`datetime="([^"]+)" data-at="${to}"`).exec(page)?.[1] ?? '') - Date.now()

it('shows the lobby the time until the opening, and a sensible poll interval', async () => {
  const sale = await saleBehind(600_000)
  const { queue_token } = await sale.joined()
  const { estimated_wait_time, poll_after_ms } = await sale.statusOf(queue_token)
  expect(estimated_wait_time).toBeGreaterThan(300)
  expect(poll_after_ms).toBeGreaterThan(10_000)
  const page = await (await sale.page()).text()
  expect(countedDown(page, 'anchor_at_ms')).toBeGreaterThan(300_000)
  expect(page).toContain('<meta http-equiv="refresh" content="60">')
})

it('shows when the lobby opens', async () => {
  const sale = await saleBehind(900_000, { lobbyInMs: 600_000 })
  const early = await sale.join()
  expect(early.status).toBe(425)
  const { type, opens_at, retry_after_seconds } = await early.json<Problem>()
  expect([type, opens_at]).toEqual(['/problems/not-open', expect.any(String)])
  expect(retry_after_seconds).toBeGreaterThan(30)
  const page = await (await sale.page()).text()
  expect(countedDown(page, 'pre_queue_opens_at_ms')).toBeGreaterThan(300_000)
})

it('does not take the end for passed while it is still to come', async () => {
  const sale = await saleBehind(-1_000, { endsInMs: 1_800_000 })
  await sale.publish({ admission: { rate_per_second: 0.1, max_inside: null } })
  const { queue_token } = await sale.joined()
  for (let i = 0; i < 20; i++) await sale.joined()
  const last = await sale.joined()
  const page = await sale.line({ cookie: `queue-${sale.name}=${last.queue_token}` })
  expect(await page.text()).toMatch(/id="wait"[^>]*>About/)
  const { ends_at_ms } = await sale.schedule()
  expect((ends_at_ms ?? 0) - Date.now()).toBeGreaterThan(1_500_000)
  // A place lasts for a day after the end.
  expect((decodeJwt(queue_token).exp ?? 0) * 1000 - Date.now()).toBeGreaterThan(24 * HOUR_MS + 1_500_000)
})
