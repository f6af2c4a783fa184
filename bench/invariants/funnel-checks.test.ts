/** The checks of the funnel find each join, turn and payment at another source. */
import { expect, test } from 'vitest'
import type { FunnelRow } from '../../shared/api/operators/report.ts'
import type { Evidence, LedgerOrder, VisitRecord } from './evidence.ts'
import { funnelChecks } from './funnel-checks.ts'

const visit = (number: number | null, source: string, order: string | null = null) =>
  ({ number, source, order }) as VisitRecord
const order = (ticket_number: number, status: string) => ({ ticket_number, status, refunded_minor: 0 }) as LedgerOrder
const row = (key: string, joined: number, turns: number, reserved: number, paid: number): FunnelRow => ({
  ...{ key, views: 0, joined, turns, reserved, paid, paid_minor: 0 },
})

const played = {
  visits: [visit(1, 'ads', 'a'), visit(2, 'typed', 'b'), visit(3, 'ads'), visit(null, 'ads')],
  orders: [order(1, 'confirmed'), order(2, 'expired'), order(9, 'confirmed')],
  otherNumbers: [9],
  faults: null,
}
const right = [row('ads', 3, 2, 2, 2), row('typed', 1, 1, 1, 0)]
const judged = (funnel: readonly FunnelRow[], changes: Partial<Evidence> = {}) =>
  funnelChecks({ ...played, funnel, ...changes } as Evidence).map(({ holds }) => holds)

test.each<[string, FunnelRow[], (boolean | null)[]]>([
  ['all as it was', right, [true, true]],
  ['a payment of another source', [row('ads', 3, 2, 2, 0), row('typed', 1, 1, 1, 1)], [false, true]],
  ['more paid than reserved', [row('ads', 3, 2, 1, 2), row('typed', 1, 1, 1, 0)], [false, true]],
  ['a join of another source', [row('ads', 1, 2, 2, 2), row('typed', 3, 1, 1, 0)], [true, false]],
  ['a join that is counted twice', [row('ads', 4, 2, 2, 2), row('typed', 1, 1, 1, 0)], [true, true]],
  ['a turn that is missing', [row('ads', 3, 0, 2, 2), row('typed', 1, 1, 1, 0)], [true, false]],
  ['nothing', [], [false, false]],
])('judges %s', (_, funnel, holds) => expect(judged(funnel)).toEqual(holds))

test('judges no joins where processes were killed', () =>
  expect(judged([row('ads', 1, 1, 2, 2)], { faults: {} as Evidence['faults'] })).toEqual([true, null]))
