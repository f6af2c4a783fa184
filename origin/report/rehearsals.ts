/** What this installation has carried in rehearsals: the sales that `npm run rehearse` has played here. */
import { Hono } from 'hono'
import { REHEARSAL_PREFIX, type Rehearsal } from '../../shared/api/operators/report.ts'
import type { Sql } from '../ledger/connection.ts'

const MOST = 50
/** A rate is measured over so many seconds, because single ones differ by chance. */
const OVER_SECONDS = 5

export const rehearsalRoutes = (sql: Sql) =>
  new Hono().get('/rehearsals', async (c) => c.json({ rehearsals: await readRehearsals(sql) }))

/** The latest rehearsals, each with the visitors who joined, and the fastest arrivals of the opening. */
async function readRehearsals(sql: Sql): Promise<Rehearsal[]> {
  const rows = await sql<(Omit<Rehearsal, 'at'> & { at: Date })[]>`
    select s.sale_id as sale, s.opens_at as at, coalesce(m.visitors, 0) as visitors,
      coalesce(f.fastest, 0) as arrived_per_second, coalesce(p.sold, 0)::float8 as sold
    from sales s
    left join lateral (
      select greatest(max((gauges ->> 'joined')::float8), sum((counts ->> 'joined')::float8)) as visitors
      from sale_minutes where sale_id = s.sale_id) m on true
    left join lateral (
      select max((arrived - earlier) / seconds) as fastest from (
        select (gauges ->> 'arrived')::float8 as arrived,
          lag((gauges ->> 'arrived')::float8, ${OVER_SECONDS}) over by_second as earlier,
          extract(epoch from second - lag(second, ${OVER_SECONDS}) over by_second)::float8 as seconds
        from sale_seconds where sale_id = s.sale_id and gauges ? 'arrived' window by_second as (order by second)) each
      where seconds >= ${OVER_SECONDS}) f on true
    left join lateral (select sum(sold) as sold from products where sale_id = s.sale_id) p on true
    where s.sale_id like ${`${REHEARSAL_PREFIX}%`} order by s.opens_at desc limit ${MOST}`
  return rows.map((row) => ({ ...row, at: row.at.toISOString() }))
}
