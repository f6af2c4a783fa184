import { hash } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { importSecrets, newKeySet } from '../../shared/keys.ts'
import { ADMIN_TOKEN, useOrigin } from '../../test/lib/origin-process.ts'
import { connect } from '../ledger/connection.ts'
import { importInvitations } from './access-queries.ts'
import { Invitations } from './invitations.ts'

const origin = useOrigin()

function put(sale: string, body: string | ReadableStream, type = 'text/csv', query = '') {
  const headers = { 'content-type': type }
  return origin.call('PUT', `/admin/sales/${sale}/invitations${query}`, { token: ADMIN_TOKEN, headers, body })
}

const counts = async (sale: string) => (await origin.admin('GET', `/sales/${sale}/invitations`)).body

const redeemed = async (sale: string, invitation: string, visitor: string) => {
  const call = { token: origin.edgeToken, body: { invitation, visitor } }
  return (await origin.call('POST', `/internal/sales/${sale}/redeem`, call)).body
}
const redeem = async (...asked: Parameters<typeof redeemed>) => (await redeemed(...asked)).result

async function links(sale: string, body: object) {
  const answer = await origin.admin('POST', `/sales/${sale}/invitations/links`, body)
  expect(answer.status).toBe(200)
  const lines = String(answer.body.text).trim().split('\n')
  return lines.map((line) => JSON.parse(line).invitation as string)
}

describe('an import', () => {
  test('reads CSV with and without a header, and NDJSON', async () => {
    const sale = await origin.sale()
    const csv = await put(sale, 'code,uses\r\nSUMMER-24,3\r\n"quoted-one",\r\nplain-one\r\n')
    expect(csv).toMatchObject({ status: 200, body: { imported: 3, invitations: 3, uses: 5, used: 0 } })
    const ndjson = await put(sale, '{"code":"json-one","uses":2}\n{"code":"json-two"}', 'application/x-ndjson')
    expect(ndjson.body).toMatchObject({ imported: 2, invitations: 5, uses: 8 })
    for (const code of ['summer-24', 'quoted-one', 'plain-one', 'json-two'])
      expect(await redeem(sale, code, 'ada')).toBe('redeemed')
  })

  test('keeps all codes of a stream, more than one statement takes, and none after a wrong line', async () => {
    const sale = await origin.sale()
    const MANY = 60_000
    const rows = (wrongAt = -1) => {
      const codes = Array.from({ length: MANY }, (_, i) => (i === wrongAt ? 'a b' : `code-${i}`))
      const chunks = [0, 1, 2, 3, 4, 5].map((tenth) => codes.slice(tenth * 10_000, (tenth + 1) * 10_000))
      return ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(`${chunk.join('\n')}\n`)))
    }
    const wrong = await put(sale, rows(6_321))
    expect(wrong).toMatchObject({ status: 422, body: { errors: [{ field: 'line 6322' }] } })
    expect(await counts(sale)).toMatchObject({ invitations: 0 })
    expect(await put(sale, rows())).toMatchObject({ status: 200, body: { imported: MANY, invitations: MANY } })
    expect(await redeem(sale, 'code-59999', 'ada')).toBe('redeemed')
  })

  test('replaces all codes, but keeps who came in by those that stay', async () => {
    const sale = await origin.sale()
    await put(sale, 'stays,2\nleaves,2\n')
    await redeem(sale, 'stays', 'ada')
    const replaced = await put(sale, 'stays,1\nnewcomer,1\n', 'text/csv', '?replace=true')
    expect(replaced.body).toMatchObject({ invitations: 2, uses: 2, used: 1 })
    expect(await redeem(sale, 'leaves', 'ada')).toBe('unknown')
    expect(await redeem(sale, 'stays', 'ada')).toBe('redeemed')
    expect(await redeem(sale, 'stays', 'eve')).toBe('used_up')
  })

  test('names what it cannot read', async () => {
    const sale = await origin.sale()
    expect(await put(sale, '{}', 'application/json')).toMatchObject({ status: 415 })
    for (const csv of ['"open quote', 'code-1,"2\ncode-2,a "quote', 'co"de-1,1'])
      expect(await put(sale, csv, 'text/csv')).toMatchObject({ status: 400 })
    expect(await put(sale, 'x'.repeat(5_000), 'application/x-ndjson')).toMatchObject({ status: 400 })
    for (const line of ['code-1,0', 'code-1,many', 'abc', `code-1\ncode-2,-1`])
      expect(await put(sale, line)).toMatchObject({ status: 422 })
    expect(await counts(sale)).toMatchObject({ invitations: 0 })
    expect(await put('no-such-sale', 'code-1')).toMatchObject({ status: 404 })
  })
})

test.each(['text/csv', 'application/x-ndjson', 'application/json'])(
  'an import of %s that breaks off leaves the origin alive',
  async (type) => {
    const sale = await origin.sale()
    const { hostname, port } = new URL(origin.url())
    const socket = connectSocket(Number(port), hostname)
    const headers = `host: x\r\nauthorization: Bearer ${ADMIN_TOKEN}\r\ncontent-type: ${type}\r\ncontent-length: 100`
    socket.end(`PUT /admin/sales/${sale}/invitations HTTP/1.1\r\n${headers}\r\n\r\ncode-1\n`)
    await once(socket.resume(), 'close')
    expect(await put(sale, 'code-2\n')).toMatchObject({ status: 200, body: { invitations: 1 } })
    expect(origin.log()).not.toContain('store away')
  },
)

describe('an invitation', () => {
  test('lets in as many visitors as it allows, each as often as they come, also at the same moment', async () => {
    const sale = await origin.sale()
    await put(sale, 'for-three,3\nfor-one\n')
    const visitors = Array.from({ length: 10 }, (_, i) => `visitor-${i}`)
    const verdicts = await Promise.all(
      visitors.flatMap((one) => [redeem(sale, 'for-three', one), redeem(sale, 'FOR-THREE', one)]),
    )
    expect(verdicts.filter((verdict) => verdict === 'redeemed')).toHaveLength(6)
    expect(verdicts.filter((verdict) => verdict === 'used_up')).toHaveLength(14)
    expect(await counts(sale)).toMatchObject({ used: 3, uses: 4 })
    expect(await redeem(sale, 'for-one', 'visitor-1')).toBe('redeemed')
    expect(await redeem(sale, 'for-nobody', 'visitor-1')).toBe('unknown')
    expect(await redeem(await origin.sale(), 'for-one', 'visitor-1')).toBe('unknown')
  })

  test('is stored as an HMAC, which nobody finds by guessing', async () => {
    const sale = await origin.sale()
    await put(sale, 'summer-24\n')
    const [row] = await origin.sql()`select code_hash as hash from invitations where sale_id = ${sale}`
    expect(row?.hash).toMatch(/^[\w-]{43}$/)
    expect(row?.hash).not.toBe(hash('sha256', `${sale} SUMMER-24`, 'base64url'))
    expect(await redeem(sale, 'Summer-24', 'ada')).toBe('redeemed')
  })

  test('stays good while its key is among those that rotate; a forged one costs the ledger nothing', async () => {
    const saleId = await origin.sale()
    const [a, b] = [newKeySet(), newKeySet()]
    const sql = connect(origin.databaseUrl(), 1)
    const [old, both, none] = [[...a.keys], [...b.keys, ...a.keys], [...b.keys]].map(
      (keys) => new Invitations(sql, importSecrets({ keys })),
    )
    const nowMs = Date.now()
    const sale = { sale_id: saleId, links_void_before: null }
    const link = old?.sign(saleId, 1, { iat: nowMs / 1000, valid_for_seconds: 60 }) ?? ''
    const codes = async function* () {
      yield { code: 'summer-24', uses: 1 }
    }
    const hashesOf = (code: string) => (old as Invitations).hashesOf(saleId, code)
    await importInvitations(sql, saleId, codes(), { replace: false, operator: 'ida', hashesOf })
    for (const invitation of [link, 'summer-24']) {
      expect(await none?.redeem(sale, 'ada', invitation, nowMs)).toBe('unknown')
      expect(await both?.redeem(sale, 'ada', invitation, nowMs)).toBe('redeemed')
      expect(await both?.redeem(sale, 'eve', invitation, nowMs)).toBe('used_up')
    }
    expect(await both?.redeem(sale, 'ada', link, nowMs + 120_000)).toBe('void')
    await sql.end({ timeout: 0 })
    expect(await none?.redeem(sale, 'ada', link, nowMs)).toBe('unknown')
    await expect(none?.redeem(sale, 'ada', 'summer-24', nowMs)).rejects.toThrow()
  })

  test('may be a signed link, for one visitor, for one sale, for a time', async () => {
    const sale = await origin.sale()
    const made = await links(sale, { count: 2_500 })
    expect(new Set(made).size).toBe(2_500)
    expect(await counts(sale)).toMatchObject({ invitations: 0 })
    const [first = '', second = ''] = made
    expect(await redeem(sale, first, 'ada')).toBe('redeemed')
    expect(await redeem(sale, first, 'ada')).toBe('redeemed')
    expect(await redeem(sale, first, 'eve')).toBe('used_up')
    expect(await redeem(sale, second, 'eve')).toBe('redeemed')
    expect(await redeem(await origin.sale(), second, 'eve')).toBe('unknown')
    const forged = second.replace(/\.[^.]+$/, `.${'A'.repeat(43)}`)
    expect(await redeem(sale, forged, 'eve')).toBe('unknown')
    const [shared = ''] = await links(sale, { uses: 2 })
    const results = await Promise.all(['a', 'b', 'c'].map((one) => redeem(sale, shared, one)))
    const before = [...results]
    expect(results.sort()).toEqual(['redeemed', 'redeemed', 'used_up'])
    // A used code stays used up when the codes are replaced.
    for (const code of ['code-1', 'code-2']) await put(sale, code, 'text/csv', '?replace=true')
    expect(await counts(sale)).toEqual({ invitations: 4, uses: 5, used: 4 })
    for (const [i, one] of ['a', 'b', 'c'].entries()) expect(await redeem(sale, shared, one)).toBe(before[i])
  })

  test('that is a link is void for good once those signed earlier are declared so', async () => {
    const sale = await origin.sale()
    const [used = '', unused = ''] = await links(sale, { count: 2 })
    expect(await redeem(sale, used, 'ada')).toBe('redeemed')
    await put(sale, 'code-1\n')
    const path = `/sales/${sale}/invitations/links`
    const voided = async (void_before: string) => (await origin.admin('POST', path, { void_before })).body.void_before
    expect(await voided('2026-01-01T00:00:00Z')).toBe('2026-01-01T00:00:00.000Z')
    expect(await redeem(sale, unused, 'ben')).toBe('redeemed')
    // A time in the future counts as now, so links signed later are valid.
    const at = await voided('2099-01-01T00:00:00Z')
    expect(await voided('2026-01-01T00:00:00Z')).toBe(at)
    const answer = await redeemed(sale, unused, 'ben')
    expect(answer).toEqual({ result: 'void' })
    expect(await redeem(sale, 'code-1', 'eve')).toBe('redeemed')
    const [later = ''] = await links(sale, {})
    expect(await redeem(sale, later, 'eve')).toBe('redeemed')
    const { entries } = (await origin.admin('GET', `/audit?sale=${sale}`)).body as { entries: { action: string }[] }
    expect(entries.filter(({ action }) => action === 'links declared void')).toMatchObject([
      { before: { void_before: at }, after: { void_before: at } },
      { after: { void_before: at } },
      { before: { void_before: null } },
    ])
    for (const wrong of [{ void_before: 'soon' }, { void_before: at, count: 1 }])
      expect(await origin.admin('POST', path, wrong)).toMatchObject({ status: 422 })
  })
})
