/** The edge's call with the views that an isolate has gathered. Below `/internal`. */
import { Hono } from 'hono'
import { MAX_BATCH_BYTES, ViewBatch } from '../../shared/api/views.ts'
import { jsonBody } from '../lib/http/request.ts'
import type { ViewLog } from './view-log.ts'

export const edgeViewRoutes = (viewLog: Pick<ViewLog, 'add'>): Hono =>
  new Hono().post('/views', jsonBody(ViewBatch, MAX_BATCH_BYTES), async (c) => {
    await viewLog.add(c.req.valid('json'))
    return c.body(null, 204)
  })
