import { expect, test } from 'vitest'
import { saleOf } from '../../test/origin-process.ts'
import { emptyDatabase, useLedger } from '../../test/servers.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { connect, isLedgerAway, prepare, type Queryable } from './connection.ts'

const sql = await useLedger()

test('a conflict with others, or a standby, counts as a ledger that is away', async () => {
  for (const sale of ['here', 'there']) await writeSale(sql, sale, saleOf(5))
  const change = (tx: Queryable, sale: string) => tx`update sales set name = 'x' where sale_id = ${sale}`
  const codes: unknown[] = []
  const fails = (work: Promise<unknown>) => work.catch((error) => codes.push([error.code, isLedgerAway(error)]))
  await sql.begin(async (tx) => {
    await change(tx, 'here')
    await fails(Promise.resolve(sql`select 1 from sales where sale_id = 'here' for update nowait`))
  })
  await fails(sql.begin('read only', (tx) => change(tx, 'here')))
  await fails(
    sql.begin('isolation level repeatable read', async (tx) => {
      await tx`select 1`
      await change(sql, 'here')
      await change(tx, 'here')
    }),
  )
  let begun = 0
  const { promise: bothBegun, resolve: goOn } = Promise.withResolvers<void>()
  const both = (one: string, other: string) =>
    sql.begin(async (tx) => {
      await change(tx, one)
      if (++begun === 2) goOn()
      await bothBegun
      await change(tx, other)
    })
  await Promise.all([fails(both('here', 'there')), fails(both('there', 'here'))])
  expect(codes).toEqual(['55P03', '25006', '40001', '40P01'].map((code) => [code, true]))
})

test('orders are vacuumed by the number of changes, however many orders there are', async () => {
  const [table] = await sql`select reloptions from pg_class where oid = 'orders'::regclass`
  expect(table?.reloptions).toEqual([
    'autovacuum_vacuum_scale_factor=0',
    'autovacuum_vacuum_threshold=10000',
    'autovacuum_analyze_scale_factor=0',
    'autovacuum_analyze_threshold=10000',
  ])
})

test('a ledger of an earlier version is upgraded, and keeps the function of that version', async () => {
  const before = await emptyDatabase()
  await prepare(before.url)
  const old = connect(before.url, 1)
  await old.unsafe(`
    create function record_reservations(
      text, uuid[], text[], text[], bigint[], int[], text[], text[], text[], boolean,
      out recorded int, out others jsonb, out created_at timestamptz, out reserved_until timestamptz
    ) language sql begin atomic select 0, null::jsonb, now(), now(); end`)
  await prepare(before.url)
  const result = await old`
    select recorded, others from record_reservations('any', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', false)`
  expect(result).toMatchObject([{ recorded: 0, others: null }])
  await old.end()
  await before.drop()
})
