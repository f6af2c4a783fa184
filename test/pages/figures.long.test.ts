/** A sale is played, and the figures add up in the live document, in the report, and on the console's pages. */
import { randomUUID } from 'node:crypto'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect } from 'vitest'
import type { LiveReading } from '../../shared/api/operators/live.ts'
import type { SaleReport } from '../../shared/api/operators/report.ts'
import type { QueueAnswer } from '../../shared/api/public.ts'
import { DESK } from '../lib/axe.ts'
import { eventually } from '../lib/eventually.ts'
import { storyTest } from '../lib/in-browser.ts'
import { signIn } from '../lib/in-console.ts'
import { admin } from '../lib/operator.ts'
import { createSale } from '../lib/origin-process.ts'
import { saleOf } from '../lib/samples.ts'
import { visitorsOf } from '../lib/visitor.ts'
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

  const ofSale = <T>(path: string, method = 'GET') => admin<T>(system, method, `/sales/${sale}${path}`)

  /** The sale's page must be open, because the edge calls the origin about no other sale. */
  const live = async () => {
    await visitorsOf(system.edgeUrl, sale).schedule()
    return ofSale<Live>('/live')
  }
  const report = () => ofSale<SaleReport>('/report')

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
  }: Pick<LiveReading['funnel'], 'called' | 'arrived' | 'may_come' | 'did_not_come'>) {
    expect([called, arrived, may_come, did_not_come].every((people) => (people ?? -1) >= 0)).toBe(true)
    expect((called ?? 0) - (did_not_come ?? 0) - (may_come ?? 0)).toBe(arrived)
  }
  function reportAddsUp({ figures }: SaleReport): void {
    const { sold, held, free, withheld, total } = figures.units
    expect(sold + held + free + withheld).toBe(total)
    turnsAddUp(figures)
  }
  /** The figures that a page shows in its funnel, by name, and its units. */
  const shownOn = async (page: Page, region: string) => {
    // biome-ignore lint/performance/useDomNodeTextContent: only this keeps the figures of neighbours apart.
    const textOf = async (part: Locator) => (await part.innerText()).replaceAll(/\s+/g, ' ')
    const [shown, all] = [
      await textOf(page.getByRole('region', { name: region })),
      await textOf(page.getByRole('main')),
    ]
    // The live page writes the number of those who joined before the word.
    const before = /\d+(?= joined)/.exec(shown)?.[0]
    const figure = (name: string) =>
      (region !== 'Figures' && name === 'joined' && before) || new RegExp(`${name} (\\d+)`, 'i').exec(shown)?.[1]
    return { figure, shown, units: /\d+ sold \+ \d+ held.*?= \d+/.exec(all)?.[0] }
  }

  test('while it is played and afterwards', async ({ newPage }) => {
    const opens_at = new Date(Date.now() + 600_000).toISOString()
    const config = saleOf(0, { opens_at, products: [PRODUCT], admission: { rate_per_second: 2, max_inside: null } })
    await createSale(system, sale, { ...config, hold_seconds: 60 })
    const { join, called, checkout } = visitorsOf(system.edgeUrl, sale)
    const places: QueueAnswer[] = []
    for (let i = 0; i < EARLY; i++) places.push((await join()).body)
    // In the lobby no wait is shown, and nobody is called.
    const lobby = await eventually(live, ({ funnel }) => (funnel.waiting ?? 0) >= EARLY && funnel.joined === EARLY)
    expect(lobby.funnel.joined).toBe(EARLY)
    liveAddsUp(lobby)
    expect(lobby.funnel).toMatchObject({ joined: EARLY, called: 0, arrived: 0, did_not_come: 0 })
    expect(lobby.minutes.flatMap(({ gauges }) => gauges.wait_seconds ?? [])).toEqual([])

    await ofSale('/open', 'POST')
    const seen: Live[] = []
    const outcomes = await Promise.all(
      places.slice(ABSENT).map(async (place) => {
        const { admission_token } = await called(place)
        seen.push(await live())
        return (await checkout(admission_token, { payment_method: 'pm_ok' })).status
      }),
    )
    for (const one of seen) liveAddsUp(one)
    expect(outcomes.filter((status) => status === 201 || status === 202)).toHaveLength(FOR_SALE)

    const over = await eventually(live, ({ funnel, state }) => funnel.paid === FOR_SALE && state.phase === 'sold_out')
    liveAddsUp(over)
    expect(over.funnel).toMatchObject({ waiting: 0, may_come: 0, reserved: FOR_SALE, paid: FOR_SALE })
    expect(over.forecast.sold_out_at).toBeNull()
    // The rate counts the calls that were made, not those that the setting would allow.
    const made = over.minutes.flatMap(({ gauges }) => gauges.called_per_second ?? [])
    expect(Math.max(...made)).toBeGreaterThan(0)

    // The report is made from the minutes, which are written within a second.
    const [settled, { figures, ...rest }] = await eventually(
      async () => [await live(), await report()] as const,
      ([{ funnel }, { figures }]) => figures.called === funnel.called && figures.arrived === funnel.arrived,
    )
    reportAddsUp({ figures, ...rest })
    const { waiting: _, revenue_minor: __, ...funnel } = settled.funnel
    expect(figures).toMatchObject(funnel)
    expect(rest.waits.minutes.every(({ shown_seconds }) => shown_seconds > 0)).toBe(true)

    const page = await newPage({ viewport: DESK })
    await signIn(page, system, `figs-${sale}`, 'viewer')
    const units = `${FOR_SALE} sold + 0 held + 0 free + ${PRODUCT.buffer} withheld = ${PRODUCT.total}`
    for (const [path, region] of [
      ['', 'From joining to paying'],
      ['/report', 'Figures'],
    ] as const) {
      // The edge's last report may still arrive.
      const read = async () => {
        await page.goto(`${system.originUrl}/console/sales/${sale}${path}`)
        await page.getByText(/\d+ did not come/).waitFor()
        return [await shownOn(page, region), (await live()).funnel] as const
      }
      const [shown, now] = await eventually(
        read,
        ([{ figure }, { called, arrived }]) =>
          [called, arrived].join() === [figure('called'), figure('arrived')].join(),
      )
      expect(shown.units).toBe(units)
      for (const name of ['joined', 'called', 'arrived', 'reserved', 'paid'] as const)
        expect(shown.figure(name), name).toBe(String(now[name]))
      expect(shown.shown).toMatch(new RegExp(`${now.did_not_come} did not come,? 0 may still come`))
    }
  })
})
