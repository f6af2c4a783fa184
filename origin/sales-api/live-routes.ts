/** Streams the state of a running sale to the console. The state is at most a second old. */
import type { ServerResponse } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono } from 'hono'
import { preferred } from '../../shared/lib/accept.ts'
import type { Metrics } from '../base/metrics.ts'
import { beginStream, EventStreams, responseOf, withoutStream } from '../lib/http/event-stream.ts'
import type { AdminSales } from './admin-sales.ts'
import type { Live } from './live.ts'

const EVERY_MS = 1_000
/** One process serves at most this many open streams, because operators are few. */
const MAX_STREAMS = 200

interface LiveRoutesDeps {
  readonly live: Live
  readonly sales: Pick<AdminSales, 'find'>
  readonly metrics: Pick<Metrics, 'streamListeners'>
}

export function liveRoutes({ live, sales, metrics }: LiveRoutesDeps) {
  const streams = new EventStreams(MAX_STREAMS, (open) => metrics.streamListeners.set({ stream: 'console' }, open))
  const read = async (saleId: string) => live.of(await sales.find(saleId))

  async function follow(saleId: string, response: ServerResponse): Promise<void> {
    const { first, untilMs } = beginStream(response)
    response.write(first)
    while (!response.closed && performance.now() < untilMs) {
      const state = await read(saleId).then(JSON.stringify, () => null)
      // A slow reader misses states. If the state cannot be read, the page keeps its data and shows how old they are.
      if (!response.writableNeedDrain)
        response.write(state === null ? ': not readable now\n\n' : `event: live\ndata: ${state}\n\n`)
      await setTimeout(EVERY_MS)
    }
    response.end()
  }

  const app = new Hono()
  app.get('/sales/:sale/live', async (c, next) => {
    const type = preferred(c.req.header('accept'), ['application/json', 'text/event-stream'])
    if (type !== 'text/event-stream') return next()
    const response = responseOf(c)
    if (!response) return withoutStream(c)
    streams.enter()
    response.once('close', () => streams.leave())
    void follow(c.req.param('sale'), response)
    return RESPONSE_ALREADY_SENT
  })
  return app.get('/sales/:sale/live', async (c) => c.json(await read(c.req.param('sale'))))
}
