import { getTableConfig } from 'drizzle-orm/pg-core'
import { expect, test } from 'vitest'
import { saleOf } from '../../test/lib/samples.ts'
import { emptyDatabase, useLedger } from '../../test/lib/servers.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { connect, isLedgerAway, type Queryable } from './connection.ts'
import { prepare } from './migrate.ts'
import * as access from './schema/access.ts'
import * as events from './schema/events.ts'
import * as jobs from './schema/jobs.ts'
import * as mail from './schema/mail.ts'
import * as operations from './schema/operations.ts'
import * as orders from './schema/orders.ts'
import * as payments from './schema/payments.ts'
import * as sales from './schema/sales.ts'
import * as search from './schema/search.ts'
import * as seats from './schema/seats.ts'
import * as views from './schema/views.ts'

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

test('a ledger that is prepared again keeps functions that only another version calls', async () => {
  const database = await emptyDatabase()
  await prepare(database.url)
  const other = connect(database.url, 1)
  await other`create function record_otherwise() returns int language sql begin atomic select 1; end`
  await prepare(database.url)
  expect(await other`select record_otherwise() as result`).toMatchObject([{ result: 1 }])
  await other.end()
})

test('the migration makes the columns and indexes that the schema files describe', async () => {
  const described = [access, events, jobs, mail, operations, orders, payments, sales, search, seats, views]
    .flatMap((file) => Object.values(file))
    .flatMap((table) => {
      const { name, columns, indexes } = getTableConfig(table)
      const required = (isRequired: boolean) => (isRequired ? ' not null' : '')
      return [
        ...columns.map((c) => `${name}.${c.name}${required(c.notNull)}`),
        ...indexes.map((i) => `${name}: ${i.config.name}${i.config.unique ? ' unique' : ''}`),
      ]
    })
  const rows = await sql<{ text: string }[]>`
    select table_name || '.' || column_name || case when is_nullable = 'NO' then ' not null' else '' end as text
    from information_schema.columns where table_schema = 'public'
      and not (select relispartition from pg_class where oid = table_name::regclass)
    union all
    select c.relname || ': ' || i.relname || case when indisunique then ' unique' else '' end
    from pg_index join pg_class i on i.oid = indexrelid join pg_class c on c.oid = indrelid
    where i.relnamespace = 'public'::regnamespace and not c.relispartition
      and not exists (select from pg_constraint where conindid = indexrelid)
      -- Made only where the server has trigrams, so no part of the schema files.
      and i.relname <> 'similar_words'`
  expect(rows.map(({ text }) => text).sort()).toEqual(described.sort())
})
