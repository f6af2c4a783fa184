import { expect, test } from 'vitest'
import { sendTable, withoutFormulas } from './table.ts'

test.each([
  ['=1+1', "'=1+1"],
  [' @SUM(A1)', "' @SUM(A1)"],
  ['-5', "'-5"],
  ['a;=1+1', "a;'=1+1"],
  ['a\n+1;\t-1', "a\n'+1;'\t'-1"],
  ['said "no"; 5 - 3 = 2', 'said "no"; 5 - 3 = 2'],
])('a cell of an export is no formula in any locale: %j', (text, guarded) => {
  expect(withoutFormulas(text)).toBe(guarded)
})

test('a CSV begins with the byte order mark of UTF-8, and keeps ids', async () => {
  async function* pages() {
    yield [{ id: '-1a', note: '-1a' }]
  }
  const columns = ['id', 'note'] as const
  type Row = Record<(typeof columns)[number], string>
  const table = { columns, ids: ['id'] as const, field: (row: Row, column: keyof Row) => row[column], name: 'rows' }
  const bytes = await sendTable<Row, keyof Row>({ ...table, object: (row) => row, pages: pages() }, 'csv').bytes()
  expect(Buffer.from(bytes).toString()).toBe("\ufeffid,note\r\n-1a,'-1a\r\n")
})
