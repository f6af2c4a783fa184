/**
 * The edge's calls with which visitors request messages by mail or by push, or refuse them. The routes are mounted
 * below `/internal`.
 */
import { Hono } from 'hono'
import * as v from 'valibot'
import { OrderId } from '../../shared/api/fields.ts'
import { MailRequest, PushRequest } from '../../shared/api/internal.ts'
import { EndedPush } from '../../shared/api/mails.ts'
import type { SyncKey, TokenKeys } from '../../shared/keys.ts'
import { problem } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import { readBody, refuse } from '../lib/http/request.ts'
import type { Sales } from '../sales/sales.ts'
import type { Sender } from '../webhooks/sender.ts'
import { faultIn } from './channels/push.ts'
import { endPush, refuseMail, storeMailRequest, storePushRequest } from './mail-requests.ts'
import { isStopMac } from './template.ts'

interface MailRoutesDeps {
  readonly sql: Sql
  readonly sales: Pick<Sales, 'find'>
  /** The keys sign the links that end mails. */
  readonly keys: TokenKeys<SyncKey>
  /** The sender connects to push services. */
  readonly sender: Pick<Sender, 'refusal'>
  /** The hosts of push services; undefined if push is not set up. */
  readonly pushServices: readonly string[] | undefined
}

export const mailRoutes = ({ sql, sales, keys, sender, pushServices }: MailRoutesDeps): Hono =>
  new Hono()
    .post('/sales/:sale/mail-asks', async (c) => {
      const { sale_id } = (await sales.find(c.req.param('sale'))) ?? refuse(problem('unknown-sale'))
      // The response never says whether the address refuses mails, because it may belong to somebody else.
      await storeMailRequest(sql, sale_id, await readBody(c, MailRequest))
      return c.body(null, 204)
    })

    .post('/sales/:sale/push-asks', async (c) => {
      const { sale_id } = (await sales.find(c.req.param('sale'))) ?? refuse(problem('unknown-sale'))
      if (!pushServices) refuse(problem('not-found'))
      const asked = await readBody(c, PushRequest)
      const fault = faultIn(asked.push, pushServices, sender)
      if (fault) refuse(problem('invalid-fields', { detail: `${fault.field}: ${fault.detail}`, errors: [fault] }))
      await storePushRequest(sql, sale_id, asked)
      return c.body(null, 204)
    })

    .delete('/sales/:sale/push-asks', async (c) => {
      const { endpoint } = await readBody(c, EndedPush)
      await endPush(sql, c.req.param('sale'), endpoint)
      return c.body(null, 204)
    })

    .post('/mail/stop/:id/:mac', async (c) => {
      const { id, mac } = c.req.param()
      const isOurs = v.is(OrderId, id) && isStopMac(keys, id, mac)
      if (!isOurs || !(await refuseMail(sql, id))) refuse(problem('not-found'))
      return c.body(null, 204)
    })
