/** Operators import promo codes. */
import { describe, expect, test } from 'vitest'
import { ADMIN_TOKEN, useOrigin } from '../../test/lib/origin-process.ts'

const origin = useOrigin()

describe('an import', () => {
  const put = (sale: string, body: unknown, type = 'application/json') =>
    origin.call('PUT', `/admin/sales/${sale}/promo-codes`, {
      token: ADMIN_TOKEN,
      headers: { 'content-type': type },
      body,
    })
  const listed = async (sale: string) => (await origin.admin('GET', `/sales/${sale}/promo-codes`)).body.codes
  const versionOf = async (sale: string) =>
    (await origin.sql()`select terms_version from sales where sale_id = ${sale}`)[0]?.terms_version

  test('takes a CSV, and says what it took as JSON, which can be sent back', async () => {
    const sale = await origin.sale()
    const csv = [
      'code,percent,amount_minor,uses,uses_per_visitor,units_per_use,from,until,products',
      'noon,10,,100,1,2,2026-01-01T00:00:00Z,2090-01-01T00:00:00Z,one two;three',
      '',
      'ten,,1000,,,,,,',
    ].join('\n')
    const version = await versionOf(sale)
    const { status, body } = await put(sale, csv, 'text/csv')
    const none = { uses: null, uses_per_visitor: null, units_per_use: null, from: null, until: null, products: null }
    const all = { combined: false, used: 0 }
    const times = { from: '2026-01-01T00:00:00.000Z', until: '2090-01-01T00:00:00.000Z' }
    const codes = [
      {
        code: 'NOON',
        percent: 10,
        uses: 100,
        uses_per_visitor: 1,
        units_per_use: 2,
        ...times,
        products: ['one', 'two', 'three'],
        ...all,
      },
      { code: 'TEN', amount_minor: 1_000, ...none, ...all },
    ]
    expect([status, body.codes]).toEqual([200, codes])
    expect(await versionOf(sale)).toBeGreaterThan(version)
    expect((await put(sale, { codes })).body.codes).toEqual(codes)
    expect(await listed(sale)).toEqual(codes)
    // Codes are neither listed as products of the sale nor counted in its remaining units.
    expect((await origin.admin('GET', `/sales/${sale}`)).body.products).toHaveLength(1)
    expect((await origin.admin('GET', `/audit?sale=${sale}`)).body).toMatchObject({
      entries: [{ action: 'promo codes imported' }, { action: 'promo codes imported' }, {}],
    })
  })

  test('is checked before it is made, and the check changes nothing', async () => {
    const sale = await origin.sale()
    await put(sale, [{ code: 'KEPT', percent: 5 }])
    const csv = ['code,percent', 'A1,10', 'NEWS 9T,15', 'B1,110', 'a1,20', 'KEPT,5'].join('\n')
    const check = (type: string) =>
      origin.call('POST', `/admin/sales/${sale}/promo-codes/check`, {
        token: ADMIN_TOKEN,
        headers: { 'content-type': type },
        body: csv,
      })
    const { status, body } = await check('text/csv')
    expect([status, body]).toMatchObject([
      200,
      {
        understood: [
          { line: 2, code: { code: 'A1', percent: 10 } },
          { line: 6, code: { code: 'KEPT', percent: 5 } },
        ],
        refused: [
          { line: 3, code: 'NEWS 9T', field: 'code' },
          { line: 4, code: 'B1', field: 'percent', why: 'at most 100' },
          { line: 5, code: 'a1', field: 'code', why: 'comes twice, also in line 2' },
        ],
        refused_count: 3,
      },
    ])
    expect((await check('application/json')).status).toBe(415)
    expect(await listed(sale)).toMatchObject([{ code: 'KEPT' }])
  })

  test('with errors changes nothing, and names their lines', async () => {
    const sale = await origin.sale()
    await put(sale, [{ code: 'KEPT', percent: 5 }])
    const csv = ['code,percent,price_minor', 'A,10,', 'B1,10,', 'b1,20,', 'C1,10,5', 'D1,x,'].join('\n')
    const { status, body } = await put(sale, csv, 'text/csv')
    expect([status, body.errors?.map(({ field }) => field)]).toEqual([
      422,
      ['line 2.code', 'line 4.code', 'line 5.percent', 'line 6.percent'],
    ])
    const { body: unknown } = await put(sale, [{ code: 'A1', percent: 10, colour: 'red' }])
    expect(unknown.errors).toMatchObject([{ field: 'codes.0.colour' }])
    for (const [wrong, type, status] of [
      ['percent\n10', 'text/csv', 422],
      ['{', 'application/json', 400],
      ['code', 'text/plain', 415],
    ] as const)
      expect(await put(sale, wrong, type)).toMatchObject({ status })
    expect((await put('no-such-sale', [])).status).toBe(404)
    expect(await listed(sale)).toMatchObject([{ code: 'KEPT' }])
  })

  test('takes no uses away that orders have', async () => {
    const sale = await origin.sale({ limit_per_visitor: 5 })
    await put(sale, [{ code: 'NOON', percent: 5, uses: 3 }])
    for (let used = 0; used < 2; used++)
      expect((await origin.checkoutDecided(sale, { body: { promo_code: 'NOON' } })).status).toBe(201)
    expect(await put(sale, [{ code: 'OTHER', percent: 5 }])).toMatchObject({ status: 409, body: { codes: ['NOON'] } })
    expect((await put(sale, [{ code: 'NOON', percent: 5, uses: 1 }])).status).toBe(409)
    expect((await put(sale, [{ code: 'NOON', percent: 50, uses: 2 }])).status).toBe(200)
    expect(await origin.checkoutDecided(sale, { body: { promo_code: 'NOON' } })).toMatchObject({ status: 409 })
    expect(await listed(sale)).toMatchObject([{ code: 'NOON', percent: 50, used: 2 }])
  })

  test('for an earlier list is refused with what others changed in it, and nothing is lost', async () => {
    const sale = await origin.sale()
    const path = `/admin/sales/${sale}/promo-codes`
    const etag = async () => String((await origin.call('GET', path, { token: ADMIN_TOKEN })).headers.get('etag'))
    const putFor = (version: string, body: object) =>
      origin.call('PUT', path, { token: ADMIN_TOKEN, headers: { 'if-match': version }, body })
    const [noon, late] = [
      { code: 'NOON', percent: 5 },
      { code: 'LATE', percent: 7 },
    ]
    const read = await etag()
    const first = await putFor(read, [noon])
    expect([first.status, first.headers.get('etag')]).toEqual([200, await etag()])
    // An import without differences is not a change.
    expect((await put(sale, [noon])).status).toBe(200)
    expect((await origin.checkoutDecided(sale, { body: { promo_code: 'NOON' } })).status).toBe(201)
    expect(await etag()).toBe(first.headers.get('etag'))
    const changed = { type: '/problems/changed-meanwhile', changed: ['NOON'], by: 'admin', at: expect.any(String) }
    expect(await putFor(read, [late])).toMatchObject({ status: 412, body: changed })
    const both = await Promise.all(
      [late, { ...late, percent: 9 }].map((one) => putFor(String(first.headers.get('etag')), [noon, one])),
    )
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 412])
    expect(await listed(sale)).toHaveLength(2)
  })

  test('is counted like all stock: what differs from the orders is repaired', async () => {
    const sale = await origin.sale({ limit_per_visitor: 5 })
    await put(sale, [
      { code: 'NOON', percent: 5, uses: 3 },
      { code: 'TEN', percent: 5, uses: 3 },
    ])
    expect((await origin.checkoutDecided(sale, { body: { promo_code: 'NOON' } })).status).toBe(201)
    await origin.sql()`update products set held = 2 where sale_id = ${sale} and is_promo_code`
    expect((await origin.admin('POST', `/sales/${sale}/reconcile`)).status).toBe(200)
    expect(await listed(sale)).toMatchObject([{ used: 1 }, { used: 0 }])
    expect((await origin.admin('POST', `/sales/${sale}/reconcile`)).body).toMatchObject({ findings: [{ found: 'ok' }] })
  })

  test('takes thousands, and no more than ten', async () => {
    const sale = await origin.sale()
    const codes = Array.from({ length: 10_001 }, (_, i) => ({ code: `C${i}`, percent: 10, uses: 1 }))
    expect((await put(sale, codes.slice(0, 2_000))).status).toBe(200)
    expect((await put(sale, codes)).status).toBe(413)
    expect(await origin.checkoutDecided(sale, { body: { promo_code: 'C1999' } })).toMatchObject({
      status: 201,
      body: { total_minor: 900 },
    })
    expect((await origin.admin('POST', `/sales/${sale}/reconcile`)).body).toMatchObject({ findings: [{ found: 'ok' }] })
  })
})
