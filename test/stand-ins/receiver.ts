/** A shop's system that receives webhooks, written as its developer would: with the Standard Webhooks library. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll } from 'vitest'
import { requireDescribedMessage } from '../lib/described.ts'

export interface Received {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
  readonly data: any
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly atMs: number
}

type Answer = (message: Received, response: ServerResponse) => unknown

/** A receiver for the tests of a file. `answer` sets its response, by default 204. */
export function useReceiver() {
  const received: Received[] = []
  let answer: Answer | undefined
  let origin = ''
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const { type, timestamp, data } = JSON.parse(body)
    const id = String(request.headers['webhook-id'])
    const message = {
      id,
      type,
      timestamp,
      data,
      body,
      path: request.url ?? '',
      headers: request.headers,
      atMs: performance.now(),
    }
    received.push(message)
    if (answer) await answer(message, response)
    if (!response.writableEnded) response.writeHead(204).end()
  })
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: (path: string) => `${origin}${path}`,
    /** The messages to a path, in order of arrival. */
    at: (path: string) => received.filter((one) => one.path === path),
    answers(next: Answer | undefined) {
      answer = next
    },
  }
}

/** Throws unless the message is signed with the secret, and is as docs/openapi describes it. */
export function verify(secret: string, { body, headers }: Received) {
  const message = new Webhook(secret).verify(body, headers as Record<string, string>)
  requireDescribedMessage(message as { readonly type: string })
  return message
}
