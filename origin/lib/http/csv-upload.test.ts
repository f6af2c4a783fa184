import { expect, test } from 'vitest'
import { type FieldError, problemIn } from '../../../shared/problem.ts'
import { csvRows } from './csv-upload.ts'

const FORM = { columns: ['code', 'uses'], required: ['code'], maxRow: 100 } as const

/** The rows of a file that arrives in chunks of some bytes, its errors, or the type of the problem that ends it. */
async function read(
  file: string | Uint8Array,
  { chunk = 1_000, ...form }: { chunk?: number; headerIsOptional?: true } = {},
) {
  const bytes = Buffer.from(file)
  const errors: FieldError[] = []
  const rows: unknown[] = []
  async function* chunks() {
    for (let i = 0; i < bytes.length; i += chunk) yield bytes.subarray(i, i + chunk)
  }
  try {
    const found = csvRows(chunks(), { ...FORM, ...form }, (error) => errors.push(error))
    for await (const { line, fields } of found) rows.push([line, fields.code, fields.uses])
  } catch (error) {
    return problemIn(error).type
  }
  return errors.length > 0 ? errors.map(({ field, detail }) => `${field} ${detail}`) : rows
}

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')

test.each<[string, string | Uint8Array]>([
  ['UTF-8', 'code,uses\nZoë,2\nb,\n'],
  ['UTF-8 with its byte order mark', '\ufeffcode,uses\nZoë,2\nb,\n'],
  ['UTF-16', utf16('code,uses\nZoë,2\nb,\n')],
  ['UTF-16, big-endian', utf16('code,uses\nZoë,2\nb,\n').swap16()],
  ['a header in capitals, in another order', 'USES,Code\n2,Zoë\n,b\n'],
  ['quotes and no last line break', '"code","uses"\r\n"Zoë","2"\r\nb,""'],
])('reads %s, in chunks of any size', async (_, file) => {
  for (const chunk of [1, 2, 3, 1_000])
    expect(await read(file, { chunk })).toEqual([
      [2, 'Zoë', '2'],
      [3, 'b', undefined],
    ])
})

test('numbers the lines of the file, with blank ones and those inside quotes', async () => {
  expect(await read('code,uses\n\n,,\na,"1\n2"\n\nb,3\n')).toEqual([
    [4, 'a', '1\n2'],
    [7, 'b', '3'],
  ])
})

test.each([
  ['code;uses\nNOON;1\n', ['line 1 separated by ";": save the file with commas']],
  ['code\tuses\nNOON\t1\n', ['line 1 separated by tabs: save the file with commas']],
  ['sep=;\ncode;uses\n', ['line 1 remove "sep=;": commas separate columns']],
  ['\nuses,colour\n', ['line 2: code the column is missing', 'line 2: colour there is no such column']],
  ['code,code\n', ['line 1: code the column is there twice']],
  ['code,uses\na,1,2\n', ['line 2 more fields than columns']],
  ['', ['line 1 the columns are required: code,uses']],
  [Buffer.from('code\nZo\xeb\n', 'latin1'), '/problems/invalid-fields'],
  [Buffer.from([0x1f, 0x8b, 8, 0, 0]), '/problems/invalid-fields'],
  [Buffer.concat([Buffer.from('code\nZo'), Buffer.from('ë').subarray(0, 1)]), '/problems/invalid-fields'],
  ['code\n"open\n', '/problems/invalid-request'],
])('refuses %j by what is wrong with it', async (file, expected) => {
  expect(await read(file)).toEqual(expected)
})

test('a header is optional where the form says so', async () => {
  expect(await read('NOON,1\n', { headerIsOptional: true })).toEqual([[1, 'NOON', '1']])
  expect(await read('uses,code\n1,NOON\n', { headerIsOptional: true })).toEqual([[2, 'NOON', '1']])
  expect(await read('NOON;1\n', { headerIsOptional: true })).toHaveLength(1)
})
