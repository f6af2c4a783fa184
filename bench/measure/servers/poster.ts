/** Sends signed messages at a rate to a receiver, from memory, which is the minimum work of any deliverer. */
import { createHmac } from 'node:crypto'
import { Agent, createServer, request } from 'node:http'

const { PORT, TO = '', PER_SECOND } = process.env
const TICK_MS = 20
const KEY = Buffer.alloc(32, 7)
const BODY = JSON.stringify({ type: 'order.fulfilled', timestamp: '', data: { text: 'x'.repeat(600) } })
const agent = new Agent({ keepAlive: true, maxSockets: 32 })
const beganMs = performance.now()
let sent = 0

function post(): void {
  const id = `evt_${++sent}`
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = `v1,${createHmac('sha256', KEY).update(`${id}.${timestamp}.${BODY}`).digest('base64')}`
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
  request(TO, { method: 'POST', agent, headers: { ...headers, 'content-length': Buffer.byteLength(BODY) } })
    .on('response', (response) => response.resume())
    .on('error', () => {})
    .end(BODY)
}

createServer((_, response) => response.end()).listen(Number(PORT), '127.0.0.1')
setInterval(() => {
  for (const due = ((performance.now() - beganMs) / 1000) * Number(PER_SECOND); sent < due; ) post()
}, TICK_MS)
