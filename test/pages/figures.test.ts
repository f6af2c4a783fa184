/** A sale is played, and what stands side by side adds up: in the live document, in the report, and on the console's pages. */
import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect } from 'vitest'
import type { LiveReading } from '../../shared/api/live.ts'
import type { SaleReport } from '../../shared/api/report.ts'
import { eventually } from '../lib/eventually.ts'
import { storyTest } from '../lib/in-browser.ts'
import { createSale } from '../lib/origin-process.ts'
import { saleOf } from '../lib/samples.ts'
import type { RunSystem } from '../run/one-system.ts'
import { hasBrowser, sharedPart } from '../run/shared-part.ts'

const EARLY = 9
const ABSENT = 2
const PRODUCT = { product_id: 'red', name: 'Red', unit_price_minor: 2500, currency: 'EUR', total: 6, buffer: 1 }
const FOR_SALE = PRODUCT.total - PRODUCT.buffer

interface Invariant extends Readonly<Record<'total' | 'buffer' | 'available' | 'held' | 'sold', number>> {}
type Live = LiveReading & { readonly state: { readonly phase: string; readonly invariant: Invariant } }

const test = storyTest()

describe.skipIf(!hasBrowser)('the figures of a sale agree', () => {
  let system: RunSystem
  beforeAll(async () => {
    system = await sharedPart('system')
  })
  const sale = `figures-${randomUUID().slice(0, 8)}`

  async function ask<T>(url: string, method = 'GET', token = system.adminToken, body?: object): Promise<T> {
    const response = await fetch(url, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        'idempotency-key': randomUUID(),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return (await response.json()) as T
  }
  const admin = <T>(path: string, method = 'GET') => ask<T>(`${system.originUrl}/admin/sales/${sale}${path}`, method)
  const edge = (path: string, method: string, token?: string, body?: object) =>
    ask<Record<string, string>>(`${system.edgeUrl}${path}`, method, token ?? '', body)

  /** As somebody reads it who has the sale's page open: the edge asks the origin about no other sale. */
  const live = async () => {
    await edge(`/sales/${sale}/schedule`, 'GET')
    return admin<Live>('/live')
  }
  const report = () => admin<SaleReport>('/report')

  function liveAddsUp({ funnel, state: { invariant } }: Live): void {
    const { sold, held, available, buffer, total } = invariant
    expect(sold + held + available + buffer).toBe(total)
    turnsAddUp(funnel)
  }
  function turnsAddUp({
    called,
    arrived,
    may_come,
    did_not_come,
  }: Omit<LiveReading['funnel'], 'joined' | 'waiting' | 'reserved' | 'paid'>) {
    expect([called, arrived, may_come, did_not_come].every((people) => (people ?? -1) >= 0)).toBe(true)
    expect((called ?? 0) - (did_not_come ?? 0) - (may_come ?? 0)).toBe(arrived)
  }
  function reportAddsUp({ figures }: SaleReport): void {
    const { sold, held, free, withheld, total } = figures.units
    expect(sold + held + free + withheld).toBe(total)
    turnsAddUp(figures)
  }
  /** What a page says beside each name of its funnel, and its units. */
  const shownOn = async (page: Page) => ({
    funnel: Object.fromEntries(
      await page
        .locator('.funnel li')
        .evaluateAll((steps) =>
          steps.map((step) => [
            step.querySelector('span')?.textContent ?? '',
            [
              step.querySelector('b')?.textContent ?? '',
              ...[...step.querySelectorAll('small')].map((s) => s.textContent ?? ''),
            ],
          ]),
        ),
    ) as Record<string, string[]>,
    units: ((await page.getByText(/\d+ sold \+ \d+ held/).textContent()) ?? '').replaceAll(/\s+/g, ' '),
  })

  test('while it is played and afterwards', async ({ newPage }) => {
    const opens_at = new Date(Date.now() + 600_000).toISOString()
    const config = saleOf(0, { opens_at, products: [PRODUCT], admission: { rate_per_second: 2, max_inside: null } })
    await createSale(system, sale, { ...config, hold_seconds: 60 })
    const tokens: string[] = []
    for (let i = 0; i < EARLY; i++) tokens.push((await edge(`/sales/${sale}/queue`, 'POST')).queue_token ?? '')
    // In the lobby nobody is shown a wait, and nobody is called.
    const lobby = await eventually(live, ({ funnel }) => (funnel.waiting ?? 0) >= EARLY && funnel.joined === EARLY)
    expect(lobby.funnel.joined).toBe(EARLY)
    liveAddsUp(lobby)
    expect(lobby.funnel).toMatchObject({ joined: EARLY, called: 0, arrived: 0, did_not_come: 0 })
    expect(lobby.minutes.flatMap(({ gauges }) => gauges.wait_seconds ?? [])).toEqual([])

    await admin('/open', 'POST')
    const seen: Live[] = []
    const outcomes = await Promise.all(
      tokens.slice(ABSENT).map(async (token) => {
        const { status, admission_token } = await eventually(
          () => edge(`/sales/${sale}/queue/status`, 'GET', token),
          ({ status }) => status !== 'pre_queue' && status !== 'waiting',
        )
        seen.push(await live())
        const order = await edge(`/sales/${sale}/checkout`, 'POST', admission_token, { payment_method: 'pm_ok' })
        return order.order_id ? 'reserved' : (order.type ?? status)
      }),
    )
    for (const one of seen) liveAddsUp(one)
    expect(outcomes.filter((outcome) => outcome === 'reserved')).toHaveLength(FOR_SALE)

    const over = await eventually(live, ({ funnel, state }) => funnel.paid === FOR_SALE && state.phase === 'sold_out')
    liveAddsUp(over)
    expect(over.funnel).toMatchObject({ waiting: 0, may_come: 0, reserved: FOR_SALE, paid: FOR_SALE })
    expect(over.forecast.sold_out_at).toBeNull()
    // The calls that were made, not those that the rate would allow.
    const made = over.minutes.flatMap(({ gauges }) => gauges.called_per_second ?? [])
    expect(Math.max(...made)).toBeGreaterThan(0)

    // The report is made of the minutes, which are written within a second.
    const [settled, { figures, ...rest }] = await eventually(
      async () => [await live(), await report()] as const,
      ([{ funnel }, { figures }]) => figures.called === funnel.called && figures.arrived === funnel.arrived,
    )
    reportAddsUp({ figures, ...rest })
    const { waiting: _, ...funnel } = settled.funnel
    expect(figures).toMatchObject(funnel)
    expect(rest.waits.minutes.every(({ shown_seconds }) => shown_seconds > 0)).toBe(true)

    const page = await newPage({ viewport: { width: 1440, height: 900 } })
    await page.goto(`${system.originUrl}/console`)
    await page.getByLabel('Your key').fill(system.adminToken)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Sales', exact: true }).waitFor()
    const units = `${FOR_SALE} sold + 0 held + 0 free + ${PRODUCT.buffer} withheld = ${PRODUCT.total}`
    for (const path of ['', '/report']) {
      // The edge's last report may still come.
      const read = async () => {
        await page.goto(`${system.originUrl}/console/sales/${sale}${path}`)
        await page.locator('.funnel').waitFor()
        return [await shownOn(page), (await live()).funnel] as const
      }
      const [shown, now] = await eventually(
        read,
        ([{ funnel }, { called, arrived }]) =>
          [called, arrived].join() === [funnel.called?.[0], funnel.arrived?.[0]].join(),
      )
      expect(shown.units).toBe(units)
      for (const name of ['joined', 'called', 'arrived', 'reserved', 'paid'] as const)
        expect(shown.funnel[name]?.[0]).toBe(String(now[name]))
      expect(shown.funnel.arrived).toContain(`${now.did_not_come} did not come, 0 may still come`)
    }
  })
})
