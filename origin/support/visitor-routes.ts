/** The owners' call for a visitor who asks to be forgotten. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { parse } from '../../shared/parse.ts'
import type { Sql } from '../ledger/connection.ts'
import { operatorOf } from '../lib/request.ts'
import { requireRole } from '../operators/operator-auth.ts'
import { forgetVisitor } from '../retention/retention-queries.ts'

/** As long as a token's subject may be. */
const Visitor = v.object({ visitor: v.pipe(v.string(), v.maxLength(200, 'at most 200 characters')) })

/** Below `/admin`. Repeating it is harmless: an unknown visitor counts as forgotten. */
export function visitorRoutes(sql: Sql): Hono {
  const app = new Hono()
  app.delete('/visitors/:visitor', requireRole('owner'), async (c) =>
    c.json(await forgetVisitor(sql, parse(Visitor, c.req.param()).visitor, operatorOf(c))),
  )
  return app
}
