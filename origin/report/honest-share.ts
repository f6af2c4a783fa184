/**
 * How much of a sale went to people: the units sold outside the networks whose joins look like those of scripts. A
 * network does if its joins come without pages that somebody looked at, or without proofs of work. It is an estimate,
 * by networks and not by persons.
 */
import type { HonestShare } from '../../shared/api/operators/report.ts'
import { SOLD } from '../../shared/api/order-status.ts'
import type { Sql } from '../ledger/connection.ts'

/** The counted views of a sale by network, with keys such as `AS3320`. */
export type ViewsByNetwork = (sql: Sql, saleId: string) => Promise<readonly { key: string; views: number }[]>

export interface NetworkFigures {
  readonly asn: number
  readonly joined: number
  /** Joins that were refused because they had no proof of work. */
  readonly unproved: number
  /** Pages of the sale that were looked at for long enough to count. */
  readonly views: number
  readonly units: number
}

/** Fewer joins say nothing of a network. */
const JUDGED_FROM_JOINS = 20
/** At least half of those who join have looked at a page. */
const VIEWS_PER_JOIN = 0.5
/** At least a tenth of those who are asked for a proof of work come back with one. */
const PROVED_SHARE = 0.1
/** The report names at most this many networks, those with the most units. */
const LISTED = 10

export async function honestShareOf(sql: Sql, saleId: string, viewsOf: ViewsByNetwork): Promise<HonestShare | null> {
  const [views, networks] = await Promise.all([
    viewsOf(sql, saleId),
    sql<Omit<NetworkFigures, 'views'>[]>`
      select asn, coalesce(n.joined, 0)::float8 as joined, coalesce(n.unproved, 0)::float8 as unproved,
        coalesce(o.units, 0)::float8 as units
      from (select asn, joined, unproved from sale_networks where sale_id = ${saleId}) n
      full join (
        select asn, sum(quantity) as units from orders join order_networks using (order_id)
        where sale_id = ${saleId} and status in ${sql(SOLD)} group by asn) o using (asn)`,
  ])
  const viewsByKey = new Map(views.map(({ key, views: counted }) => [key, counted]))
  return judged(networks.map((one) => ({ ...one, views: viewsByKey.get(`AS${one.asn}`) ?? 0 })))
}

/** Null if no network is known by its number, or nobody's pages are counted. Pure. */
export function judged(networks: readonly NetworkFigures[]): HonestShare | null {
  const unitsOf = (some: readonly NetworkFigures[]) => some.reduce((sum, { units }) => sum + units, 0)
  const units = unitsOf(networks)
  if (units === 0 || networks.every(({ views }) => views === 0)) return null
  const scripted = networks.filter(looksScripted)
  return {
    units,
    outside: units - unitsOf(scripted),
    scripted: scripted
      .toSorted((a, b) => b.units - a.units || b.joined - a.joined)
      .slice(0, LISTED)
      .map(({ asn, ...figures }) => ({ network: `AS${asn}`, ...figures })),
  }
}

function looksScripted({ joined, unproved, views }: NetworkFigures): boolean {
  const asked = joined + unproved
  return asked >= JUDGED_FROM_JOINS && (views < VIEWS_PER_JOIN * joined || joined < PROVED_SHARE * asked)
}
