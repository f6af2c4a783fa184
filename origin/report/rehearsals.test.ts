/** Operators read what was rehearsed here before they trust a rate. */
import { expect, test } from 'vitest'
import type { Rehearsal } from '../../shared/api/operators/report.ts'
import { useOrigin } from '../../test/lib/origin-process.ts'

const origin = useOrigin()

test('tells the visitors and the fastest arrivals of each rehearsal, and of no other sale', async () => {
  const [rehearsal, sale] = [await origin.sale({ total: 7 }), await origin.sale()]
  const sql = origin.sql()
  const name = `rehearsal-${rehearsal.slice(-8)}`
  await sql`insert into sales select (jsonb_populate_record(s, jsonb_build_object('sale_id', ${name}::text))).*
    from sales s where sale_id = ${rehearsal}`
  for (const id of [name, sale]) {
    await sql`insert into sale_minutes (sale_id, minute, counts, gauges)
      values (${id}, now(), '{"joined": 580}', '{"joined": 600}')`
    // 20 arrive in each of ten seconds, and nobody in the others.
    await sql`insert into sale_seconds (sale_id, second, counts, gauges)
      select ${id}, now() + n * interval '1 second', '{}', jsonb_build_object('arrived', least(n, 10) * 20)
      from generate_series(0, 30) n`
  }
  const { body } = await origin.admin('GET', '/rehearsals')
  const { rehearsals } = body as unknown as { readonly rehearsals: readonly Rehearsal[] }
  expect(rehearsals.find((one) => one.sale === name)).toMatchObject({ visitors: 600, arrived_per_second: 20, sold: 0 })
  expect(rehearsals.some((one) => one.sale === sale)).toBe(false)
})
