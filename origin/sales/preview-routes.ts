/** Links to the previews of a sale's pages, which the edge makes. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { previewQuery } from '../../shared/preview-link.ts'
import { problem } from '../../shared/problem.ts'
import type { Config } from '../config.ts'
import { query, refuse } from '../lib/request.ts'
import type { AdminSales } from './admin-sales.ts'

/** As long as somebody looks at them. */
const LASTS_MS = 3_600_000
const TIMEOUT_MS = 3_000

const Query = v.object({
  from: v.pipe(
    v.string('the scheme and host of the console is required'),
    v.check(
      (text) => URL.canParse(text) && new URL(text).origin === text,
      'a scheme and host such as https://console.example is required',
    ),
  ),
})
const States = v.object({ states: v.array(v.string()) })

interface PreviewDeps {
  readonly config: Pick<Config, 'EDGE_TOKEN' | 'EDGE_URL' | 'PUBLIC_URL'>
  readonly sales: Pick<AdminSales, 'nowMs'>
}

export function previewRoutes({ config, sales }: PreviewDeps) {
  /** Where the pages are, for an hour, to be framed by who asks; and the names of their states. */
  return new Hono().get('/sales/:sale/preview', query(Query), async (c) => {
    const sale = c.req.param('sale')
    const { from } = c.req.valid('query')
    const shop = config.PUBLIC_URL ?? config.EDGE_URL
    if (shop === undefined)
      return refuse(problem('conflict', { detail: 'EDGE_URL is not set: the edge makes the pages.' }))
    const expiresMs = Math.floor(sales.nowMs()) + LASTS_MS
    const signed = new URLSearchParams(previewQuery(config.EDGE_TOKEN, { sale, expiresMs, from }))
    const states = await statesAt(`${config.EDGE_URL ?? shop}/sales/${sale}/preview?${signed}`)
    if (states === 'no preview Worker')
      return refuse(
        problem('conflict', { detail: 'The edge has no preview Worker: docs/deploying.md says how to add it.' }),
      )
    if (!states) return refuse(problem('try-again', { detail: 'The edge does not answer.', retry_after_seconds: 3 }))
    return c.json({ url: `${shop}/sales/${sale}/preview`, query: String(signed), states })
  })
}

/** The names of the states; undefined where the edge does not respond. */
async function statesAt(url: string): Promise<readonly string[] | 'no preview Worker' | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (response.status === 409) return 'no preview Worker'
    return v.parse(States, await response.json()).states
  } catch {
    return undefined
  }
}
