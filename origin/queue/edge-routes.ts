/**
 * The edge's call for the state of a sale's queue, which also brings what the edge has to report. Below `/internal`.
 */
import { Hono } from 'hono'
import { PUBLIC_LINE, queueName, saleAndLineOf } from '../../shared/api/access.ts'
import type { SaleState } from '../../shared/api/internal.ts'
import { problem } from '../../shared/problem.ts'
import type { Policies } from '../access/policy.ts'
import type { Metrics } from '../base/metrics.ts'
import { close, openFinding } from '../findings/finding-queries.ts'
import type { Sql } from '../ledger/connection.ts'
import { refuse } from '../lib/http/request.ts'
import { describeSale, inLine, publicProducts } from '../sales/sale-state.ts'
import type { Sales } from '../sales/sales.ts'
import { reportIn } from './queue-reports.ts'
import type { SaleQueues } from './sale-queues.ts'

interface EdgeRoutesDeps {
  readonly sql: Sql
  readonly metrics: Pick<Metrics, 'findings'>
  readonly sales: Sales
  readonly policies: Pick<Policies, 'of'>
  readonly queues: Pick<SaleQueues, 'stateOf' | 'latestReport'>
  /** True if a mail server is configured. */
  readonly sendsMail: boolean
  /** Null where push is not set up. */
  readonly pushKey: string | null
}

export function edgeRoutes({ sql, metrics, sales, policies, queues, sendsMail, pushKey }: EdgeRoutesDeps): Hono {
  /** Stale pages cost no order, so the edge's call does not wait for the finding. */
  function notePurges(sale: string, queue: string, failures: number | undefined) {
    if (failures === undefined || failures === queues.latestReport(queue)?.purge_failures) return
    const finding = { sale, product: '', kind: 'purge_failed', detail: { failures } } as const
    const noted =
      failures === 0 ? close(sql, sale, '', 'purge_failed', 'the cache was purged') : openFinding(sql, metrics, finding)
    void noted.catch(() => {})
  }

  return new Hono().get('/sales/:queue', async (c) => {
    const { sale: saleId, line } = saleAndLineOf(c.req.param('queue'))
    const found = (await sales.find(saleId)) ?? refuse(problem('unknown-sale'))
    // The sale's own queue exists also where nobody can join it: the edge reads there who may join the other lines.
    const isLine = line === PUBLIC_LINE || found.lines.some((other) => other.line === line)
    if (!isLine || queueName(saleId, line) !== c.req.param('queue')) refuse(problem('unknown-sale'))
    notePurges(saleId, c.req.param('queue'), reportIn(c.req.query())?.purge_failures)
    const state = await queues.stateOf(found, line, c.req.query())
    const nowMs = sales.nowMs()
    const sale = inLine(found, line)
    const policy = policies.of(sale)
    return c.json({
      ...describeSale(sale, nowMs),
      ...state,
      products: publicProducts(sale),
      line,
      contact: sale.contact.email,
      feed_version: sale.feed_version,
      mails: sendsMail ? sale.mails : [],
      push: pushKey === null ? null : { key: pushKey, kinds: sale.mails },
      read_ago_ms: sales.knownAgoMs(saleId),
      pre_queue_opens_in_ms: (sale.pre_queue_opens_at ?? sale.created_at).getTime() - nowMs,
      opens_in_ms: sale.opens_at.getTime() - nowMs,
      ends_in_ms: sale.ends_at ? sale.ends_at.getTime() - nowMs : null,
      ticket_shards: sale.ticket_shards,
      policy: policy.version === c.req.query('policy') ? null : policy,
    } satisfies SaleState)
  })
}
