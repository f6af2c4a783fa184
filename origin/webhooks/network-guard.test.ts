import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isPublic, publicLookup, type Resolve } from './network-guard.ts'
import { ANSWER_TIMEOUT_MS, Sender } from './sender.ts'

const listen = async (server: Server) => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
let asked = 0
const server = createServer((_, response) => {
  asked++
  response.end('secret')
})
let port = 0
beforeAll(async () => {
  port = Number(new URL(await listen(server)).port)
})
afterAll(() => void server.close())

test.each([
  [true, '93.184.216.34 2606:2800:220:1:248:1893:25c8:1946'],
  [
    false,
    '127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 100.100.100.200 169.254.169.254 0.0.0.0 224.0.0.1 255.255.255.255',
  ],
  // The host of a virtual machine answers at this address.
  [false, '168.63.129.16 ::ffff:168.63.129.16 ::ffff:a83f:8110'],
  [false, '::1 :: fd00:ec2::254 fe80::1 ::ffff:10.0.0.1 64:ff9b::a00:1'],
  // These are IPv4 addresses in old notations within IPv6, and addresses that are assigned to nobody.
  [false, '::10.0.0.1 ::ffff:0:10.0.0.1 4000::1 2002:a00:1:: shop.example'],
])('is public: %s, for each of %s', (wanted, addresses) => {
  expect(addresses.split(' ').filter((address) => isPublic(address) !== wanted)).toEqual([])
})

// A name is checked by the address to which it resolves for the connection; localhost resolves to a private one.
test.each(['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '0x7f.1', '2130706433'])(
  'a private address is not reached, written as %s',
  async (host) => {
    const sender = new Sender({ allowPrivate: false, allowHttp: true })
    const { status, error } = await sender.send(`http://${host}:${port}/`, {}, '{}')
    expect(status).toBeNull()
    expect(error).toContain('WEBHOOKS_ALLOW_PRIVATE')
    expect(asked).toBe(0)
    sender.close()
  },
)

test('it is reached where that is allowed, and plain http only where that is', async () => {
  const lax = new Sender({ allowPrivate: true, allowHttp: true })
  expect(await lax.send(`http://localhost:${port}/`, {}, '{}')).toMatchObject({ status: 200, error: null })
  lax.close()
  const strict = new Sender({ allowPrivate: true, allowHttp: false })
  expect(await strict.send(`http://localhost:${port}/`, {}, '{}')).toMatchObject({ error: 'https is required' })
  strict.close()
})

test('a public name is refused as soon as it has a private address, and each connection checks again', async () => {
  const before = asked
  const [open, hidden] = ['93.184.216.34', '127.0.0.1'].map((address) => ({ address, family: 4 }))
  if (!open || !hidden) return expect.unreachable()
  const answers = [[open], [hidden], [open, hidden]]
  const resolve: Resolve = (_host, _options, done) => done(null, answers.shift() ?? [])
  const found = new Promise((done) =>
    publicLookup(resolve)('shop.example', {}, (error, address) => done(error ?? address)),
  )
  expect(await found).toBe('93.184.216.34')
  const sender = new Sender({ allowPrivate: false, allowHttp: true, resolve })
  for (let i = 0; i < 3; i++)
    expect(await sender.send(`http://shop.example:${port}/`, {}, '{}')).toMatchObject({
      error: expect.stringContaining('shop.example is not an address of the public Internet'),
    })
  expect(answers).toEqual([])
  expect(asked).toBe(before)
  sender.close()
})

test('a receiver that never answers, or never ends its answer, is given up at the timeout', async () => {
  const silent = createServer((request, response) => {
    if (request.url === '/drips') response.writeHead(200).write('a')
  })
  const url = await listen(silent)
  const sender = new Sender({ allowPrivate: true, allowHttp: true, timeoutMs: 300 })
  for (const path of ['/silent', '/drips'])
    expect(await sender.send(url + path, {}, '{}')).toMatchObject({ error: 'no answer within 0.3 s' })
  expect(ANSWER_TIMEOUT_MS).toBe(15_000)
  sender.close()
  silent.closeAllConnections()
  silent.close()
})
