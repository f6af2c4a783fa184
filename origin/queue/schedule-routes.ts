/**
 * The public schedule for a CDN that pulls it from here (`SCHEDULE_URL` of the edge), so that those who wait reach
 * neither a Worker nor a store. It comes from the edge, past the cache there, and is kept so briefly that it is as
 * old as if read there.
 */
import { Hono } from 'hono'
import { problem } from '../../shared/problem.ts'
import { Copies } from '../lib/copies.ts'
import { headerOf, refuse, tryAgain } from '../lib/http/request.ts'
import type { Sales } from '../sales/sales.ts'

/**
 * How long this process answers with the same copy: however many places a CDN pulls from, the edge is read five times
 * a second.
 */
const FRESH_MS = 200
const TIMEOUT_MS = 1_500
const MAX_COPIES = 1_000

const HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'public, max-age=1',
  // Pages of the edge's host read it, and correct the server's time by the copy's age.
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'age',
  'x-content-type-options': 'nosniff',
}

interface ScheduleDeps {
  readonly sales: Pick<Sales, 'find'>
  readonly config: { readonly EDGE_URL?: string | undefined; readonly EDGE_TOKEN: string }
}

interface Copy {
  readonly etag: string
  readonly json: string
}

/** `GET /sales/{sale}/schedule`; with `?line=members` that of another line. */
export function scheduleRoutes({ sales, config }: ScheduleDeps): Hono {
  const copies = new Copies<Copy>({ max: MAX_COPIES, freshMs: FRESH_MS })

  return new Hono().get('/:sale/schedule', async (c) => {
    const { sale_id, lines } = (await sales.find(c.req.param('sale'))) ?? refuse(problem('unknown-sale'))
    const line = c.req.query('line')
    if (line !== undefined && !lines.some((one) => one.line === line)) refuse(problem('not-found'))
    const path = `/sales/${sale_id}/schedule${line === undefined ? '' : `?line=${line}`}`
    const { etag, json } = await copies.of(path, performance.now(), () => readFromEdge(path, config))
    const headers = { ...HEADERS, etag }
    return headerOf(c, 'if-none-match') === etag
      ? new Response(null, { status: 304, headers })
      : new Response(json, { headers })
  })
}

async function readFromEdge(path: string, { EDGE_URL, EDGE_TOKEN }: ScheduleDeps['config']): Promise<Copy> {
  if (EDGE_URL === undefined) refuse(tryAgain('EDGE_URL is not set: the schedule comes from the edge.'))
  const headers = { authorization: `Bearer ${EDGE_TOKEN}` }
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetch(new URL(`/internal${path}`, EDGE_URL), { headers, signal }).catch(() => null)
  const json = await response?.text().catch(() => null)
  if (!response?.ok || json == null) refuse(tryAgain('The edge does not answer.'))
  return { etag: response.headers.get('etag') ?? '', json }
}
