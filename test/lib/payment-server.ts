/**
 * The example payment server (examples/payment-server) as a process of its own, and one that says whatever a test has
 * it say.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { serveOnLoopback } from '../../dev/lib/loopback.ts'
import { freePort, LOOPBACK, Server, temporaryFolder } from '../../dev/lib/processes.ts'
import { signedHeaders } from '../../origin/lib/http/standard-webhooks.ts'
import { PAYMENT_SECRET } from '../run/one-origin.ts'

const SERVER = fileURLToPath(new URL('../../examples/payment-server/server.ts', import.meta.url))

export { PAYMENT_SECRET }

/** What the server says of a charge. */
export interface SaidCharge {
  readonly charge: string
  readonly status: string
  readonly refunds: readonly { readonly reference: string; readonly refund?: string; readonly amount_minor: number }[]
}

/** A payment server that is not started yet. `webhookUrl` is called at each start. */
export async function examplePaymentServer(webhookUrl: () => string) {
  const folder = temporaryFolder('payment-server')
  const port = await freePort()
  const url = `http://${LOOPBACK}:${port}`
  const server = new Server({
    url,
    port,
    process: () => ({
      name: 'the payment server',
      command: process.execPath,
      args: [SERVER],
      logFile: join(folder.path, 'payment-server.log'),
      env: {
        PATH: process.env.PATH ?? '',
        PAYMENT_SECRET,
        WEBHOOK_URL: webhookUrl(),
        PORT: String(port),
        FILE: join(folder.path, 'charges.jsonl'),
      },
    }),
    probe: async () => (await fetch(url)).status === 404,
    remove: () => folder.remove(),
  })
  /** A call as the origin makes it. */
  const call = async (body: object, id: string = crypto.randomUUID()) => {
    const response = await postSigned(url, body, id)
    return { status: response.status, body: (await response.json()) as SaidCharge & Record<string, unknown> }
  }
  return {
    server,
    url,
    call,
    state: async (charge: string) => (await call({ call: 'state', charge })).body,
    /** The buyer decides at the address that the server named. */
    decide: (url: string, decision: 'approve' | 'decline') =>
      fetch(`${url}?${decision}`, { method: 'POST', redirect: 'manual' }),
  }
}

export const postSigned = (
  url: string,
  body: object | string,
  id: string = crypto.randomUUID(),
  secret = PAYMENT_SECRET,
) => {
  const sent = typeof body === 'string' ? body : JSON.stringify(body)
  const headers = { 'content-type': 'application/json', ...signedHeaders([secret], id, sent, new Date()) }
  return fetch(url, { method: 'POST', headers, body: sent })
}

type Listener = (request: IncomingMessage, response: ServerResponse, body: string) => unknown

/** A server in this process that answers as the test says, by default not at all. */
export async function freePaymentServer() {
  let listener: Listener = () => {}
  const received: { readonly headers: IncomingMessage['headers']; readonly body: string }[] = []
  const { url, stop } = await serveOnLoopback(async (request, response) => {
    const body = await text(request)
    received.push({ headers: request.headers, body })
    await listener(request, response, body)
  })
  return {
    url,
    received,
    stop,
    answers(next: Listener | object | string) {
      listener =
        typeof next === 'function'
          ? (next as Listener)
          : (_, response) => response.end(typeof next === 'string' ? next : JSON.stringify(next))
    },
  }
}
