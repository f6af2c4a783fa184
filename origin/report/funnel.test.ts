/** The funnel adds up views, joins, turns, orders and money by source, and keeps its order of steps. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { eventually } from '../../test/lib/eventually.ts'
import { useOrigin } from '../../test/lib/origin-process.ts'
import { joinCounts } from '../../test/lib/samples.ts'
import { addUp } from './funnel.ts'

const origin = useOrigin()

const row = (key: string, counts: object) => ({
  key,
  ...{ views: 0, joined: 0, turns: 0, reserved: 0, paid: 0, paid_minor: 0, ...counts },
})

test('tells joins, turns, orders and money of each source, and of those without one', async () => {
  const sale = await origin.sale({ total: 10 })
  const counts = joinCounts({ joins: 5, sources: { ads: 2, 'mail spring drop': 1 } })
  const query = new URLSearchParams({ counts })
  const told = await origin.call('GET', `/internal/sales/${sale}?${query}`, { token: origin.edgeToken })
  expect(told.status).toBe(200)
  const buy = async (src: string | undefined, payment_method?: string) => {
    const token = await origin.token(sale, undefined, src === undefined ? {} : { src })
    const { body } = await origin.checkoutDecided(sale, { token, body: payment_method ? { payment_method } : {} })
    expect(body.status).toMatch(/reserved|paying/)
  }
  await buy('ads', 'pm_ok')
  await buy('ads')
  await buy('mail spring drop', 'pm_ok')
  await buy(undefined)
  const funnel = () => origin.admin('GET', `/sales/${sale}/funnel?by=source`)
  const { body } = await eventually(funnel, ({ body }) => {
    const { rows = [] } = body as { rows?: { paid: number; turns: number; joined: number }[] }
    const sum = (of: 'paid' | 'turns' | 'joined') => rows.reduce((all, one) => all + one[of], 0)
    return sum('paid') === 2 && sum('turns') === 4 && sum('joined') === 5
  })
  expect(body).toEqual({
    rows: [
      row('ads', { joined: 2, turns: 2, reserved: 2, paid: 1, paid_minor: 1000 }),
      row('mail spring drop', { joined: 1, turns: 1, reserved: 1, paid: 1, paid_minor: 1000 }),
      row('typed', { joined: 2, turns: 1, reserved: 1 }),
    ],
  })
  const wrong = await origin.admin('GET', `/sales/${sale}/funnel?by=weather`)
  expect(wrong).toMatchObject({ status: 422, body: { errors: [{ field: 'by' }] } })
  expect((await origin.admin('GET', '/sales/nowhere/funnel?by=source')).status).toBe(404)
})

test('adds up all that is known of a source, and loses nobody to the bound of rows', () => {
  const key = fc.integer({ min: 0, max: 300 }).map((n) => `source-${n}`)
  const count = fc.nat(1_000)
  const part = fc.record({ key, views: count, joined: count, paid_minor: count })
  fc.assert(
    fc.property(fc.array(part, { maxLength: 500 }), (parts) => {
      const rows = addUp(parts)
      const sum = (of: readonly { readonly views: number; readonly joined: number }[]) =>
        of.reduce((all, { views, joined }) => all + views + joined, 0)
      expect(sum(rows)).toBe(sum(parts))
      expect(new Set(rows.map((one) => one.key)).size).toBe(rows.length)
      expect(rows.length).toBeLessThanOrEqual(102)
    }),
  )
})
