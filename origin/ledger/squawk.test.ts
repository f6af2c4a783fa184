/** squawk, by `.squawk.toml`, refuses migrations that a running sale or the release before could not bear. */
import { execa } from 'execa'
import { expect, test } from 'vitest'

const refusalsOf = async (input: string) => {
  const options = { input, preferLocal: true, reject: false } as const
  const { stdout, exitCode } = await execa('squawk', ['--stdin-filepath', 'new.sql', '--reporter', 'json'], options)
  return [exitCode, (JSON.parse(stdout) as { rule_name: string }[]).map((refusal) => refusal.rule_name)]
}

test.each([
  ['alter table orders add column region text not null', 'adding-required-field'],
  ['alter table orders drop column status', 'ban-drop-column'],
  ['alter table sales rename column name to title', 'renaming-column'],
  ['alter table orders rename to purchases', 'renaming-table'],
  ['drop table orders', 'ban-drop-table'],
  ['alter table orders alter column units type bigint', 'changing-column-type'],
  ['alter table orders alter column region set not null', 'adding-not-nullable-field'],
  ['alter table orders add constraint positive check (units > 0)', 'constraint-missing-not-valid'],
  ['create index orders_of_region on orders (region)', 'require-concurrent-index-creation'],
])('%s is refused', async (statement, rule) => {
  expect(await refusalsOf(`${statement};`)).toEqual([1, [rule]])
})

test('a table with its index, and a column that is optional or has a default, are accepted', async () => {
  const statements = [
    'create table parcels (parcel_id bigserial primary key, region text)',
    'create index parcels_of_region on parcels (region)',
    'alter table orders add column region text',
    "alter table orders add column carrier text default 'post' not null",
  ]
  expect(await refusalsOf(`${statements.join(';\n')};`)).toEqual([0, []])
})
