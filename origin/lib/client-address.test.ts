import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { clientAddress } from './client-address.ts'

async function addressOf(header: string | undefined, sent: Record<string, string>, remoteAddress = '192.0.2.1') {
  const app = new Hono().get('/', (c) => c.text(clientAddress(c, header)))
  const response = await app.request('/', { headers: sent }, { incoming: { socket: { remoteAddress }, headers: sent } })
  return response.text()
}
const forwarded = (value: string) => addressOf('x-forwarded-for', { 'x-forwarded-for': value })

test('a caller is known by the connection, unless a header is trusted', async () => {
  expect(await addressOf(undefined, { 'x-forwarded-for': '203.0.113.9' })).toBe('192.0.2.1')
  expect(await addressOf(undefined, {}, '::ffff:192.0.2.1')).toBe('192.0.2.1')
  expect(await forwarded('203.0.113.9')).toBe('203.0.113.9')
  expect(await addressOf('x-forwarded-for', {})).toBe('192.0.2.1')
})

test('what a caller claims before the proxy counts for nothing, and garbage for the connection', async () => {
  expect(await forwarded('10.0.0.1, 10.0.0.2, 203.0.113.9:4711')).toBe('203.0.113.9')
  for (const garbage of ['', 'unknown', 'x'.repeat(100)]) expect(await forwarded(garbage)).toBe('192.0.2.1')
})

test('a /64 of IPv6 is one caller', async () => {
  const [one, same, other] = await Promise.all(['2001:db8::1', '2001:db8::2:1', '2001:db8:0:1::1'].map(forwarded))
  expect(same).toBe(one)
  expect(other).not.toBe(one)
})
