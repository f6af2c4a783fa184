/**
 * What monitors ask, on a port of their own (OPS_PORT) that no buyer reaches: metrics, readiness, liveness. Buyers'
 * port has only `/healthz`, for the balancer before it.
 */
import { type Context, Hono } from 'hono'
import { problem } from '../shared/problem.ts'
import type { Metrics } from './base/metrics.ts'
import { sendProblem } from './lib/http/request.ts'
import { withTimeout } from './lib/with-timeout.ts'

const READY_TIMEOUT_MS = 1_000
/** However often it is asked, each store is pinged once in this time. */
const READINESS_TTL_MS = 1_000

interface OpsDeps {
  readonly registry: Metrics['registry']
  /** A ping of each store. */
  readonly stores: Readonly<Record<'ledger' | 'gate', () => Promise<unknown>>>
}

interface Readiness {
  readonly ledger: boolean
  readonly gate: boolean
}

export const alive = (c: Context) => c.json({ status: 'ok' })

/** If `deps` is undefined, the origin is still starting: it responds as alive, but not ready. */
export function createOpsApp(deps?: OpsDeps): Hono {
  const app = new Hono()
  const ready = deps ? cacheResult(() => readiness(deps.stores)) : async () => ({ ledger: false, gate: false })
  app.get('/healthz', alive)
  app.get('/readyz', async (c) => {
    const stores = await ready()
    // Either store suffices to serve.
    return c.json(stores, stores.ledger || stores.gate ? 200 : 503)
  })
  if (deps)
    app.get('/metrics', async (c) =>
      c.text(await deps.registry.metrics(), 200, { 'content-type': deps.registry.contentType }),
    )
  app.notFound(() => sendProblem(problem('not-found', { detail: 'There are /metrics, /readyz and /healthz.' })))
  return app
}

/** What monitors hear from a process that stops: it is not ready, and all else as before. */
export function createStoppingApp(ops: Hono): Hono {
  const app = new Hono()
  app.get('/readyz', (c) => c.json({ ledger: false, gate: false, stopping: true }, 503))
  app.all('*', (c) => ops.fetch(c.req.raw))
  return app
}

async function readiness(stores: OpsDeps['stores']): Promise<Readiness> {
  const pings = [stores.ledger(), stores.gate()].map((ping) => withTimeout(ping, READY_TIMEOUT_MS))
  const [ledger = false, gate = false] = (await Promise.allSettled(pings)).map(({ status }) => status === 'fulfilled')
  return { ledger, gate }
}

/** Calls `ask` once in READINESS_TTL_MS and returns its last result in between. */
function cacheResult<T>(ask: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | undefined
  let askedAtMs = Number.NEGATIVE_INFINITY
  return () => {
    const nowMs = performance.now()
    if (!last || nowMs - askedAtMs >= READINESS_TTL_MS) {
      askedAtMs = nowMs
      last = ask()
    }
    return last
  }
}
