/** Checks the sale's funnel by source against what the crowd's visitors did. */
import { isSold } from '../../shared/api/order-status.ts'
import { n } from '../lib/figures.ts'
import { type Check, check, type Evidence, ifAny } from './evidence.ts'

export function funnelChecks({ funnel, visits, orders, otherNumbers, faults }: Evidence): Check[] {
  const rowOf = new Map(funnel.map((row) => [row.key, row]))
  const joined = visits.filter(({ number }) => number !== null)
  const sourceOf = new Map(joined.map(({ number, source }) => [number, source]))
  const paid = orders.filter(
    ({ status, refunded_minor }) => isSold(status) || status === 'returned' || refunded_minor > 0,
  )
  // The numbers of bots, and of visitors who joined again, belong to no visit.
  const unknown = paid.filter(({ ticket_number }) => !sourceOf.has(ticket_number)).length
  const payments = tallied(paid.flatMap(({ ticket_number }) => sourceOf.get(ticket_number) ?? []))
  const joins = tallied(joined.map(({ source }) => source))
  const turns = tallied(visits.flatMap(({ source, order }) => (order === null ? [] : [source])))
  /** The sources of which the funnel has fewer than the crowd. */
  const lacking = (known: ReadonlyMap<string, number>, of: 'joined' | 'turns' | 'paid') =>
    [...known].flatMap(([key, many]) => ((rowOf.get(key)?.[of] ?? 0) < many ? [key] : []))
  const sum = (of: 'joined' | 'paid') => funnel.reduce((all, row) => all + row[of], 0)
  const [unpaid, missing, short] = [lacking(payments, 'paid'), lacking(joins, 'joined'), lacking(turns, 'turns')]
  const isOrdered = funnel.every((row) => row.reserved >= row.paid)
  // A process that is killed loses the joins and turns of its last second.
  const exactly = (holds: boolean) => (faults === null ? ifAny(joined.length, holds) : null)
  return [
    check(
      'the funnel has each payment by its source',
      ifAny(paid.length, unpaid.length === 0 && sum('paid') === paid.length && isOrdered),
      `${n(sum('paid'))} payments counted, ${n(paid.length)} made, ${n(unknown)} by visitors who joined again; ` +
        `too few of: ${unpaid.join(', ') || 'no source'}`,
    ),
    check(
      'the funnel has each join and turn by its source',
      // The edge sends a count again if its answer is late, so that a slow origin may count a join twice.
      exactly(missing.length + short.length === 0),
      `${n(sum('joined'))} joins counted, ${n(joined.length)} visitors and ${n(otherNumbers.length)} other numbers; ` +
        `too few of: ${[...missing, ...short].join(', ') || 'no source'}`,
    ),
  ]
}

function tallied(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}
