/** Streams the state of a running sale to the console. The state is at most a second old. */
import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { problem } from '../../shared/problem.ts'
import { refuse } from '../lib/request.ts'
import type { AdminSales } from './admin-sales.ts'
import type { Live } from './live.ts'

const EVERY_MS = 1_000
/** The stream ends after this time. The browser connects again, and an expired session is noticed. */
const MAX_STREAM_MS = 10 * 60_000
/** One process serves at most this many open streams, because operators are few. */
const MAX_STREAMS = 200

interface LiveRoutesDeps {
  readonly live: Live
  readonly sales: Pick<AdminSales, 'find'>
}

export function liveRoutes({ live, sales }: LiveRoutesDeps) {
  let open = 0
  const app = new Hono()
  app.get('/sales/:sale/live', async (c, next) => {
    const saleId = c.req.param('sale')
    if (!c.req.header('accept')?.includes('text/event-stream')) return next()
    if (open >= MAX_STREAMS) refuse(problem('try-again', { detail: 'Too many are watching.', retry_after_seconds: 5 }))
    open++
    c.header('x-accel-buffering', 'no')
    return streamSSE(c, async (stream) => {
      const until = performance.now() + MAX_STREAM_MS
      try {
        while (!stream.aborted && performance.now() < until) {
          const data = await sales
            .find(saleId)
            .then((sale) => live.of(sale))
            .then(JSON.stringify, () => null)
          // If the state cannot be read, the page keeps its data and shows how old they are.
          await (data === null ? stream.write(': not readable now\n\n') : stream.writeSSE({ event: 'live', data }))
          await stream.sleep(EVERY_MS)
        }
      } finally {
        open--
      }
    })
  })
  return app.get('/sales/:sale/live', async (c) => c.json(await live.of(await sales.find(c.req.param('sale')))))
}
