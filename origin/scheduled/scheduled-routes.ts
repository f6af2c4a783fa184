/** The operators' calls for scheduled actions of a sale. */
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { Hono } from 'hono'
import * as v from 'valibot'
import { writtenInstant } from '../../shared/api/fields.ts'
import { ScheduledEffect, ScheduledTime } from '../../shared/api/operators/requests.ts'
import { parse } from '../../shared/parse.ts'
import { invalidField, problem } from '../../shared/problem.ts'
import { audit } from '../ledger/audit.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { jsonBody, optionalIdempotencyKey, refuse } from '../lib/http/request.ts'
import { operatorOf } from '../operators/operator-auth.ts'
import { wasJustRevoked } from '../operators/operator-queries.ts'
import { phaseOf } from '../sales/sale-state.ts'
import type { AdminSales } from '../sales-api/admin-sales.ts'
import { documentKind } from './documents.ts'
import { checkProduct } from './effects.ts'
import {
  addAction,
  addRun,
  cancelAction,
  countToCome,
  findActionByKey,
  hasFailed,
  listActions,
  lockAction,
  readDocument,
  resumeAction,
  runNow,
  type ScheduledRow,
} from './scheduled-queries.ts'
import { nextTime } from './times.ts'

/** The limit of future actions of one sale is far above what a night needs. */
const MAX_TO_COME = 200
const LISTED = 500

interface ScheduledDeps {
  readonly sql: Sql
  readonly sales: Pick<AdminSales, 'find' | 'nowMs'>
}

export function scheduledRoutes({ sql, sales }: ScheduledDeps) {
  const firstOf = (cron: string, zone: string): Date => {
    try {
      return nextTime(cron, zone, sales.nowMs())
    } catch (error) {
      return refuse(invalidField('cron', (error as Error).message))
    }
  }

  return new Hono()
    .get('/sales/:sale/scheduled', async (c) => {
      const actions = await listActions(sql, c.req.param('sale'), LISTED)
      return c.json({ scheduled: actions.map(({ runs, ...row }) => ({ ...toJson(row), runs })) })
    })

    .post('/sales/:sale/scheduled', jsonBody(ScheduledTime), async (c) => {
      const sale = await sales.find(c.req.param('sale'))
      const { at, cron = null, not_after: until, ...fields } = c.req.valid('json')
      const effect = parse(ScheduledEffect, fields)
      checkProduct(effect, sale.products)
      // A report and a list of orders are worth more after the end.
      if (phaseOf(sale, sales.nowMs()) === 'ended' && !documentKind(effect))
        refuse(problem('conflict', { detail: 'The sale has ended.' }))
      const operator = operatorOf(c)
      // If the call has no key, a client that got no response must check before it repeats the call.
      const key = optionalIdempotencyKey(c)
      const action_id = randomUUID()
      const byKey = async () => (key === null ? undefined : findActionByKey(sql, sale.sale_id, key))
      const earlier = await byKey()
      const next_at = at === undefined ? firstOf(cron ?? '', sale.time_zone) : new Date(at)
      const not_after = until === undefined ? null : new Date(until)
      if (earlier) {
        if (!isSame(earlier, { effect, cron, next_at, not_after })) refuse(problem('idempotency-key-reused'))
        c.header('Idempotency-Replayed', 'true')
        return c.json({ ...toJson(earlier), runs: [] }, 201)
      }
      if (next_at.getTime() < sales.nowMs()) refuse(invalidField('at', 'must be in the future'))
      if (not_after && not_after < next_at) refuse(invalidField('not_after', 'must not be before the first run'))
      await sql.begin(async (tx) => {
        if ((await countToCome(tx, sale.sale_id)) >= MAX_TO_COME)
          refuse(problem('conflict', { detail: `At most ${MAX_TO_COME} actions of a sale may be scheduled.` }))
        if (await wasJustRevoked(tx, operator)) refuse(problem('unauthorized'))
        const row = {
          action_id,
          sale_id: sale.sale_id,
          effect,
          cron,
          operator,
          next_at,
          not_after,
          idempotency_key: key,
        }
        if (!(await addAction(tx, row))) return
        await addRun(tx, action_id, next_at)
        const after = { action_id, ...effect, cron, next_at, not_after }
        await audit(tx, [{ actor: operator, action: 'action added', sale: sale.sale_id, after }])
      })
      const added = (await byKey()) ?? (await lockAction(sql, action_id)) ?? refuse(problem('not-found'))
      return c.json({ ...toJson(added), runs: [] }, 201)
    })

    .delete('/sales/:sale/scheduled/:action', async (c) => {
      const actor = operatorOf(c)
      await sql.begin(async (tx) => {
        const row = await lockOwn(tx, c.req.param())
        if (row.cancelled_at !== null) return
        if (row.next_at === null && !row.suspended) refuse(problem('conflict', { detail: 'It has been carried out.' }))
        await cancelAction(tx, row)
        await audit(tx, [{ actor, action: 'action cancelled', sale: row.sale_id, before: inAudit(row) }])
      })
      return c.body(null, 204)
    })

    .post('/sales/:sale/scheduled/:action/run', async (c) => {
      const operator = operatorOf(c)
      const begun = await sql.begin(async (tx) => {
        const row = await lockOwn(tx, c.req.param())
        const conflict = (detail: string) => refuse(problem('conflict', { detail }))
        if (row.cancelled_at !== null) conflict('It has been cancelled.')
        if (row.suspended) conflict('It is suspended: an owner resumes it first.')
        if (row.next_at === null && !(await hasFailed(tx, row))) conflict('It has been carried out.')
        if (await wasJustRevoked(tx, operator)) refuse(problem('unauthorized'))
        await runNow(tx, row, operator)
        await audit(tx, [{ actor: operator, action: 'action run', sale: row.sale_id, before: inAudit(row) }])
        return lockOwn(tx, c.req.param())
      })
      return c.json(toJson(begun), 202)
    })

    .get('/sales/:sale/scheduled/:action/runs/:due', async (c) => {
      const { sale, action, due } = c.req.param()
      const isNamed = v.is(ActionId, action) && v.is(writtenInstant, due)
      const found = isNamed ? await readDocument(sql, sale, action, new Date(due)) : undefined
      if (!found) return refuse(problem('not-found', { detail: 'The run has kept nothing, or there is no such run.' }))
      return new Response(gunzipSync(found.body), {
        headers: { 'content-type': found.type, 'cache-control': NO_STORE },
      })
    })

    .post('/sales/:sale/scheduled/:action/resume', async (c) => {
      // An owner is required, and the action then runs in their name.
      const operator = operatorOf(c)
      const { time_zone } = await sales.find(c.req.param('sale'))
      const resumed = await sql.begin(async (tx) => {
        const row = await lockOwn(tx, c.req.param())
        const { suspended, cron } = row
        if (!suspended) return refuse(problem('conflict', { detail: 'It is not suspended.' }))
        const at = cron === null ? new Date(suspended.due_at) : nextTime(cron, time_zone, sales.nowMs())
        if (at.getTime() < sales.nowMs())
          refuse(problem('conflict', { detail: 'Its time has passed: schedule it again.' }))
        await resumeAction(tx, row, { at, operator })
        const [before, after] = [inAudit(row), { operator, next_at: at }]
        await audit(tx, [{ actor: operator, action: 'action resumed', sale: row.sale_id, before, after }])
        return lockOwn(tx, c.req.param())
      })
      return c.json(toJson(resumed))
    })
}

const ActionId = v.pipe(v.string(), v.uuid())
const NO_STORE = 'no-store'

/** Reads the action that a call names, and locks its row. */
async function lockOwn(tx: Queryable, { sale, action }: { sale: string; action: string }): Promise<ScheduledRow> {
  const row = v.is(ActionId, action) ? await lockAction(tx, action) : undefined
  if (row?.sale_id === sale) return row
  return refuse(problem('not-found', { detail: 'The sale has no such scheduled action.' }))
}

const inAudit = ({ action_id, effect, cron, operator, next_at, not_after }: ScheduledRow) => ({
  action_id,
  ...effect,
  cron,
  operator,
  next_at,
  not_after,
})

/**
 * True if a repeated call with a known key requests the same action. The time is not compared once the action has
 * run.
 */
function isSame(
  row: ScheduledRow,
  { effect, cron, next_at, not_after }: Pick<ScheduledRow, 'effect' | 'cron' | 'next_at' | 'not_after'>,
) {
  const sameTime = cron !== null || row.next_at === null || row.next_at.getTime() === next_at?.getTime()
  const isSameEnd = row.not_after?.getTime() === not_after?.getTime()
  return isDeepStrictEqual(row.effect, effect) && row.cron === cron && sameTime && isSameEnd
}

const toJson = ({
  action_id,
  effect,
  cron,
  next_at,
  not_after,
  operator,
  created_at,
  cancelled_at,
  suspended,
}: ScheduledRow) => ({
  action_id,
  ...effect,
  cron,
  operator,
  next_at: next_at?.toISOString() ?? null,
  not_after: not_after?.toISOString() ?? null,
  created_at: created_at.toISOString(),
  cancelled_at: cancelled_at?.toISOString() ?? null,
  suspended,
})
