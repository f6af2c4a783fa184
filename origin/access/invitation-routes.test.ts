import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { ADMIN_TOKEN, useOrigin } from '../../test/origin-process.ts'

const origin = useOrigin()

function put(sale: string, body: string | ReadableStream, type = 'text/csv', query = '') {
  const headers = { 'content-type': type }
  return origin.call('PUT', `/admin/sales/${sale}/invitations${query}`, { token: ADMIN_TOKEN, headers, body })
}

const counts = async (sale: string) => (await origin.admin('GET', `/sales/${sale}/invitations`)).body

async function redeem(sale: string, invitation: string, visitor: string) {
  const answer = await origin.call('POST', `/internal/sales/${sale}/redeem`, {
    token: origin.edgeToken,
    body: { invitation, visitor },
  })
  return answer.body.result
}

describe('an import', () => {
  test('reads CSV with and without a header, and NDJSON', async () => {
    const sale = await origin.sale()
    expect(await put(sale, 'code,uses\r\nSUMMER-24,3\r\n"quoted-one",\r\nplain-one\r\n')).toMatchObject({
      status: 200,
      body: { imported: 3, invitations: 3, uses: 5, used: 0 },
    })
    const lines = '{"code":"json-one","uses":2}\n{"code":"json-two"}'
    expect(await put(sale, lines, 'application/x-ndjson')).toMatchObject({
      body: { imported: 2, invitations: 5, uses: 8 },
    })
    for (const code of ['summer-24', 'quoted-one', 'plain-one', 'json-two'])
      expect(await redeem(sale, code, 'ada')).toBe('redeemed')
  })

  test('keeps all codes of a stream, more than one statement takes, and none after a wrong line', async () => {
    const sale = await origin.sale()
    const MANY = 60_000
    const rows = (wrongAt = -1) => {
      let sent = 0
      return new ReadableStream({
        pull(controller) {
          const chunk = Array.from({ length: 10_000 }, (_, i) =>
            sent + i === wrongAt ? 'a b\n' : `code-${sent + i}\n`,
          )
          controller.enqueue(new TextEncoder().encode(chunk.join('')))
          sent += chunk.length
          if (sent === MANY) controller.close()
        },
      })
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
    expect(await put(sale, 'stays,1\nnewcomer,1\n', 'text/csv', '?replace=true')).toMatchObject({
      body: { invitations: 2, uses: 2, used: 1 },
    })
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
    const socket = connect(Number(port), hostname)
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

  test('is not stored as it is', async () => {
    const sale = await origin.sale()
    await put(sale, 'a-secret-code\n')
    const rows = await origin.sql()`select code_hash as hash from invitations where sale_id = ${sale}`
    expect(rows).toEqual([{ hash: expect.stringMatching(/^[\w-]{43}$/) }])
  })

  test('may be a signed link, for one visitor, for one sale, for a time', async () => {
    const sale = await origin.sale()
    const links = async (body: object) => {
      const answer = await origin.admin('POST', `/sales/${sale}/invitations/links`, body)
      expect(answer.status).toBe(200)
      return String(answer.body.text)
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).invitation as string)
    }
    const made = await links({ count: 2_500 })
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
    const [shared = ''] = await links({ uses: 2 })
    expect(await Promise.all(['a', 'b', 'c'].map((one) => redeem(sale, shared, one)))).toEqual(
      expect.arrayContaining(['redeemed', 'redeemed', 'used_up']),
    )
  })
})
