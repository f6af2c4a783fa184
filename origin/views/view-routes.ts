/** The calls about views: the edge's with what an isolate has gathered, and the operators' counts and rules. */
import { Hono } from 'hono'
import * as v from 'valibot'
import {
  Period,
  type Recounted,
  type RuleState,
  type SaleViews,
  type TriedRules,
  TryViewRules,
  ViewQuery,
  ViewRuleList,
} from '../../shared/api/operators/views.ts'
import { MAX_BATCH_BYTES, ViewBatch } from '../../shared/api/views/view-events.ts'
import { invalidField } from '../../shared/problem.ts'
import { closeAbout } from '../findings/finding-queries.ts'
import { audit } from '../ledger/audit.ts'
import type { Sql } from '../ledger/connection.ts'
import { jsonBody, query, refuse } from '../lib/http/request.ts'
import { operatorOf } from '../operators/operator-auth.ts'
import type { OperatedSales } from '../sales/sales.ts'
import type { Store } from '../stock/scripts.ts'
import { sumsOf } from './compare.ts'
import { newState } from './count.ts'
import { countedPeriod, droppedByRules, replaceRecount, sumCounts } from './count-queries.ts'
import { decideAll } from './counter.ts'
import { readBehind, readLatest } from './log-queries.ts'
import { exportLines, replay, seenViewOf } from './replay.ts'
import type { CountRow } from './tally.ts'
import { countPages, countVisitors, daysOf } from './uniques.ts'
import type { ViewLog } from './view-log.ts'
import type { ViewRules } from './view-rules.ts'

export const edgeViewRoutes = (viewLog: Pick<ViewLog, 'add'>): Hono =>
  new Hono().post('/views', jsonBody(ViewBatch, MAX_BATCH_BYTES), async (c) => {
    await viewLog.add(c.req.valid('json'))
    return c.body(null, 204)
  })

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** The raw log of the last hours that is whole; the hour before is being dropped. */
const LOGGED_HOURS = 23
/** The rules' examples are of this many events, the latest. */
const EXAMPLE_EVENTS = 5_000
const EXAMPLES = 3
/** An answer has at most this many rows; minutes of the last two days. */
const MAX_ROWS = 2_880

const Cursor = v.object({
  after: v.optional(
    v.pipe(v.string(), v.regex(/^\d{1,15}$/, 'the cursor of a line is required'), v.transform(Number)),
    '0',
  ),
})

interface ViewRoutesDeps {
  readonly sql: Sql
  readonly redis: Store
  readonly sales: Pick<OperatedSales, 'nowMs'>
  readonly viewRules: ViewRules
}

export function viewRoutes({ sql, redis, sales, viewRules }: ViewRoutesDeps) {
  async function ruleStates(): Promise<RuleState[]> {
    const { rules, compiled } = await viewRules.inForce(0)
    const dropped = new Map((await droppedByRules(sql)).map((row) => [row.rule, row.dropped]))
    const decisions = decideAll(newState(), compiled, await readLatest(sql, EXAMPLE_EVENTS))
    const examplesOf = (rule: string) =>
      decisions.flatMap((one) => (one.kind === 'dropped' && one.rule === rule ? seenViewOf(one.view) : []))
    return rules.map((rule) => ({
      ...rule,
      dropped: dropped.get(rule.rule) ?? 0,
      examples: examplesOf(rule.rule).slice(-EXAMPLES),
    }))
  }

  return new Hono()
    .get('/view-rules', async (c) => c.json({ rules: await ruleStates() }))

    .put('/view-rules', jsonBody(ViewRuleList), async (c) => {
      await viewRules.set(c.req.valid('json').rules, operatorOf(c))
      return c.json({ rules: await ruleStates() })
    })

    .post('/view-rules/try', jsonBody(TryViewRules), async (c) => {
      const { rules, sale, hours } = c.req.valid('json')
      const to = new Date(sales.nowMs())
      const from = new Date(to.getTime() - Math.min(hours, LOGGED_HOURS) * HOUR_MS)
      const lists = [viewRules.compile(rules), (await viewRules.inForce(0)).compiled]
      const [tried = [], now = []] = await replay(sql, { saleId: sale, from, to }, lists)
      return c.json(comparedRules(sale, tried, now))
    })

    .get('/sales/:sale/views', query(ViewQuery), async (c) => {
      const saleId = c.req.param('sale')
      const { by, ...asked } = c.req.valid('query')
      const counted = await countedPeriod(sql, saleId)
      const from = asked.from ? new Date(asked.from) : (counted?.from ?? new Date(sales.nowMs()))
      const to = asked.to ? new Date(asked.to) : (counted?.to ?? new Date(sales.nowMs()))
      const period = { saleId, from, to }
      const days = daysOf(from, to)
      const [[total], rules, all, behind] = await Promise.all([
        sumCounts(sql, period, 'total'),
        sumCounts(sql, period, 'rule'),
        sumCounts(sql, period, by),
        readBehind(sql),
      ])
      const rows = all.slice(-MAX_ROWS)
      const behindSeconds = Math.max(0, ...behind.map(({ seconds }) => seconds))
      const [onPages, [uniques = null], ofKeys] = await Promise.all([
        countPages(redis, saleId, sales.nowMs(), behindSeconds),
        countVisitors(redis, saleId, days, 'total', ['']),
        by === 'minute'
          ? rows.map(() => null)
          : countVisitors(
              redis,
              saleId,
              days,
              by,
              rows.map(({ key }) => key),
            ),
      ])
      return c.json({
        counted: total?.counted ?? 0,
        dropped: total?.dropped ?? 0,
        uniques,
        on_pages: onPages,
        mean_seconds: total && total.counted > 0 ? total.seconds / total.counted : null,
        rows: rows.map(({ key, counted, dropped }, at) => ({ key, counted, dropped, uniques: ofKeys[at] ?? null })),
        by_rule: rules.map(({ key: rule, dropped }) => ({ rule, dropped })).filter(({ dropped }) => dropped > 0),
        as_of: new Date(sales.nowMs()).toISOString(),
        behind_seconds: behindSeconds,
      } satisfies SaleViews)
    })

    .post('/sales/:sale/views/recount', jsonBody(Period), async (c) => {
      const saleId = c.req.param('sale')
      const { from: fromText, to: toText } = c.req.valid('json')
      const [from, to] = [new Date(fromText), new Date(toText)]
      const nowMs = sales.nowMs()
      const isWhole = (at: Date) => at.getTime() % MINUTE_MS === 0
      if (!isWhole(from) || from.getTime() < nowMs - LOGGED_HOURS * HOUR_MS)
        refuse(invalidField('from', `a whole minute of the last ${LOGGED_HOURS} hours is required`))
      if (!isWhole(to) || to <= from || to.getTime() > nowMs)
        refuse(invalidField('to', 'a whole minute that is past, and after `from`, is required'))
      const [before] = await sumCounts(sql, { saleId, from, to }, 'total')
      const [rows = []] = await replay(sql, { saleId, from, to }, [(await viewRules.inForce(0)).compiled])
      await replaceRecount(sql, { saleId, from, to }, rows)
      await closeRecounted(saleId, from, to)
      const { counted, dropped } = sumsOf(rows).get(saleId) ?? { counted: 0, dropped: 0 }
      const period = { from: fromText, to: toText }
      await audit(sql, [{ actor: operatorOf(c), action: 'views counted again', sale: saleId, after: period }])
      return c.json({
        counted,
        dropped,
        before: { counted: before?.counted ?? 0, dropped: before?.dropped ?? 0 },
      } satisfies Recounted)
    })

    .get('/sales/:sale/views/export', query(Cursor), async (c) => {
      const { compiled } = await viewRules.inForce()
      const lines = exportLines(sql, c.req.param('sale'), Number(c.req.valid('query').after), compiled)
      return new Response(ReadableStream.from(encoded(lines)), {
        headers: { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' },
      })
    })

  /** The findings about hours that were counted again from beginning to end. */
  async function closeRecounted(saleId: string, from: Date, to: Date): Promise<void> {
    const subjects: string[] = []
    for (let at = Math.ceil(from.getTime() / HOUR_MS) * HOUR_MS; at + HOUR_MS <= to.getTime(); at += HOUR_MS)
      subjects.push(`${saleId} ${new Date(at).toISOString()}`)
    await closeAbout(sql, 'views_differ', subjects, 'counted again')
  }
}

async function* encoded(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for await (const line of lines) yield encoder.encode(line)
}

/** What rules would count and drop, and what they drop of each source beyond the rules in force. */
function comparedRules(saleId: string, tried: readonly CountRow[], now: readonly CountRow[]): TriedRules {
  const sumBy = (rows: readonly CountRow[], by: CountRow['by']) => {
    const sums = new Map<string, number>()
    for (const row of rows) if (row.by === by) sums.set(row.key, (sums.get(row.key) ?? 0) + row.dropped)
    return sums
  }
  const droppedNow = sumBy(now, 'source')
  const more = [...sumBy(tried, 'source')].map(([key, dropped]) => ({
    key,
    views: dropped - (droppedNow.get(key) ?? 0),
  }))
  return {
    ...(sumsOf(tried).get(saleId) ?? { counted: 0, dropped: 0 }),
    by_rule: [...sumBy(tried, 'rule')]
      .map(([rule, dropped]) => ({ rule, dropped }))
      .filter(({ dropped }) => dropped > 0),
    more_dropped: more.filter(({ views }) => views > 0).toSorted((one, other) => other.views - one.views),
  }
}
