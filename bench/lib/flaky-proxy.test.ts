/** The faults of a network, seen from a client of a server that sends back what it hears. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { LOOPBACK } from '../../dev/lib/loopback.ts'
import { openFlakyProxy } from './flaky-proxy.ts'

const echo = createServer((socket) => void socket.on('error', () => {}).pipe(socket))
const clients: Socket[] = []
let proxy: Awaited<ReturnType<typeof openFlakyProxy>>

beforeAll(async () => {
  await once(echo.listen(0, LOOPBACK), 'listening')
})
beforeEach(async () => {
  proxy = await openFlakyProxy(`http://${LOOPBACK}:${(echo.address() as AddressInfo).port}`)
  return proxy.close
})
afterAll(() => {
  for (const client of clients) client.destroy()
  echo.close()
})

function client(): Socket {
  const socket = connect(Number(new URL(proxy.url).port), LOOPBACK)
  clients.push(socket)
  return socket
}
async function answer(socket: Socket, asked: string): Promise<string> {
  socket.write(asked)
  const [heard] = await once(socket, 'data')
  return String(heard)
}
/** Returns the error with which the connection ends. */
const failure = (socket: Socket) =>
  once(socket, 'close').then(
    () => 'none',
    (error) => (error as NodeJS.ErrnoException).code,
  )

test('refuses until it is back', async () => {
  proxy.refuse()
  expect(await failure(client())).toBe('ECONNRESET')
  proxy.back()
  expect(await answer(client(), 'a')).toBe('a')
})

test('forgets the connections that are open, and no later one', async () => {
  const forgotten = client()
  expect(await answer(forgotten, 'a')).toBe('a')
  proxy.vanish()
  const heard = text(forgotten)
  forgotten.write('b')
  expect(await answer(client(), 'c')).toBe('c')
  proxy.back()
  expect(await heard).toBe('')
})

test('resets one of so many replies in its middle', async () => {
  proxy.resetReplies(2)
  const socket = client()
  expect(await answer(socket, 'whole')).toBe('whole')
  const ended = failure(socket)
  expect(await answer(socket, 'half')).toBe('ha')
  expect(await ended).toBe('ECONNRESET')
  proxy.resume()
  expect(await answer(client(), 'again')).toBe('again')
})

test('delays replies, and lets no later one overtake them', async () => {
  const socket = client()
  let heard = ''
  socket.on('data', (data) => {
    heard += data
  })
  proxy.delay(20)
  socket.write('first ')
  // The reply of another connection shows that the proxy has seen what was sent before.
  expect(await answer(client(), 'a')).toBe('a')
  proxy.resume()
  socket.write('second')
  await expect.poll(() => heard).toBe('first second')
})
