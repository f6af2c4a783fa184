/** A running sale for the console: a stream of its state, at most a second old. */
import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { problem } from '../../shared/problem.ts'
import { refuse } from '../lib/request.ts'
import type { AdminSales } from '../sales/admin-sales.ts'
import type { Live } from './live.ts'

const EVERY_MS = 1_000
/** After this long the browser connects again, and a session that ended meanwhile is noticed. */
const MAX_STREAM_MS = 10 * 60_000
/** Open streams of one process: operators are few. */
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
          // What cannot be read leaves the page with data that visibly grows old.
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
