/** The edge's calls for those who ask for a mail, and for those who want none. Below `/internal`. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { OrderId } from '../../shared/api/fields.ts'
import { MailAsk } from '../../shared/api/internal.ts'
import { problem } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import { readBody, refuse } from '../lib/request.ts'
import type { Sales } from '../sales/sales.ts'
import { ask, refuseMail } from './asks.ts'

interface MailRoutesDeps {
  readonly sql: Sql
  readonly sales: Pick<Sales, 'find'>
}

export const mailRoutes = ({ sql, sales }: MailRoutesDeps): Hono =>
  new Hono()
    .post('/sales/:sale/mail-asks', async (c) => {
      const { sale_id } = (await sales.find(c.req.param('sale'))) ?? refuse(problem('unknown-sale'))
      // Not said to whoever asks: the address may be somebody else's.
      await ask(sql, sale_id, await readBody(c, MailAsk))
      return c.body(null, 204)
    })

    .post('/mail/stop/:id', async (c) => {
      const id = c.req.param('id')
      if (!v.is(OrderId, id) || !(await refuseMail(sql, id))) refuse(problem('not-found'))
      return c.body(null, 204)
    })
