/**
 * The operators' calls for webhooks: manage the endpoints, list the messages sent to each, and send messages again.
 */
import { randomUUID } from 'node:crypto'
import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import type { Delivery, WebhookState } from '../../shared/api/operators/answers.ts'
import { invalidField, problem } from '../../shared/problem.ts'
import { closeAbout } from '../findings/finding-queries.ts'
import type { Sql } from '../ledger/connection.ts'
import { jsonBody, query, refuse } from '../lib/http/request.ts'
import { operatorOf, requireRole } from '../operators/operator-auth.ts'
import { readWebhookHistory } from './counts.ts'
import { reasonOf } from './failure.ts'
import type { Endpoint, SecretSealer } from './sealing.ts'
import type { Sender } from './sender.ts'
import { liveSecrets, maskSecret, newSecret, rotate } from './signing.ts'
import {
  addEndpoint,
  addTest,
  type Backlog,
  changeEndpoint,
  findEndpoint,
  MAX_REPLAY,
  readBacklogs,
  readDeliveries,
  readEndpoints,
  removeEndpoint,
  replayDeliveries,
  tryNow,
} from './webhook-queries.ts'
import { DeliveryQuery, ReplayRequest, WebhookChange, WebhookConfig } from './webhook-requests.ts'

interface WebhookDeps {
  readonly sql: Sql
  readonly webhookSealer: SecretSealer
  readonly webhookSender: Pick<Sender, 'refusal'>
}

/** An endpoint exports buyers' data from the shop, so only owners create one or replay messages. */
export function webhookRoutes({ sql, webhookSealer: sealer, webhookSender: sender }: WebhookDeps): Hono {
  const app = new Hono()
  const owner = requireRole('owner')

  const idOf = (c: Context) => {
    const id = c.req.param('endpoint') ?? ''
    return v.is(v.pipe(v.string(), v.uuid()), id) ? id : refuse(problem('not-found', { detail: NO_ENDPOINT }))
  }
  const orNone = <T>(found: T | undefined) => found ?? refuse(problem('not-found', { detail: NO_ENDPOINT }))
  const checkUrl = (url: string) => {
    const refusal = sender.refusal(new URL(url))
    if (refusal !== null) refuse(invalidField('url', refusal))
  }

  app.get('/webhooks', async (c) => {
    const [endpoints, backlogs] = await Promise.all([readEndpoints(sql, sealer), readBacklogs(sql)])
    const stateOf = (one: Endpoint) => ({ ...describe(one), ...inJson(backlogs.get(one.endpoint_id)) })
    return c.json({ webhooks: endpoints.map(stateOf) })
  })

  app.post('/webhooks', owner, jsonBody(WebhookConfig), async (c) => {
    const { secret = newSecret(), ...wanted } = c.req.valid('json')
    checkUrl(wanted.url)
    const added = await addEndpoint(
      sql,
      sealer,
      { ...wanted, endpoint_id: randomUUID(), secrets: [{ secret }] },
      operatorOf(c),
    )
    return c.json(describe(added, secret), 201)
  })

  app.get('/webhooks/:endpoint', async (c) => c.json(describe(orNone(await findEndpoint(sql, sealer, idOf(c))))))

  app.patch('/webhooks/:endpoint', owner, jsonBody(WebhookChange), async (c) => {
    const { rotate: rotates, secret: given, ...wanted } = c.req.valid('json')
    if (wanted.url !== undefined) checkUrl(wanted.url)
    const secret = rotates ? newSecret() : given
    const secretsOf = ({ secrets }: Endpoint) =>
      secret === undefined ? {} : { secrets: rotate(secrets, secret, Date.now()) }
    const id = idOf(c)
    const changed = await changeEndpoint(
      sql,
      sealer,
      id,
      (before) => ({ ...wanted, ...secretsOf(before) }),
      operatorOf(c),
    )
    await closeAbout(sql, 'webhook_failed', [id], 'changed by an operator')
    return c.json(describe(orNone(changed), secret))
  })

  app.delete('/webhooks/:endpoint', owner, async (c) => {
    const id = idOf(c)
    if (!(await removeEndpoint(sql, id, operatorOf(c)))) refuse(problem('not-found', { detail: NO_ENDPOINT }))
    await closeAbout(sql, 'webhook_failed', [id], 'the endpoint was deleted')
    return c.body(null, 204)
  })

  app.get('/webhooks/:endpoint/deliveries', query(DeliveryQuery), async (c) => {
    const { endpoint_id } = orNone(await findEndpoint(sql, sealer, idOf(c)))
    const asked = c.req.valid('query')
    const rows = await readDeliveries(sql, endpoint_id, asked)
    const deliveries = rows.map(
      ({ data, state, ...job }): Delivery => ({
        delivery: String(job.job_id),
        message_id: data.message,
        type: data.type,
        state: state === 'done' ? 'delivered' : state,
        attempts: job.attempts,
        status: data.status ?? null,
        error: job.error,
        tries: data.tries ?? [],
        created_at: job.created_at.toISOString(),
        next_attempt_at: state === 'pending' ? job.run_at.toISOString() : null,
        delivered_at: state === 'done' ? (job.finished_at?.toISOString() ?? null) : null,
        body: JSON.parse(data.body),
      }),
    )
    return c.json({ deliveries, next: rows.length === asked.limit ? deliveries.at(-1)?.delivery : null })
  })

  app.post('/webhooks/:endpoint/replay', owner, jsonBody(ReplayRequest), async (c) => {
    const id = idOf(c)
    const wanted = c.req.valid('json')
    const replayed = await sql.begin(async (tx) => {
      const { state } = orNone(await findEndpoint(tx, sealer, id))
      const count = await replayDeliveries(tx, id, wanted, operatorOf(c))
      if (count > MAX_REPLAY) refuse(invalidField('to', `more than ${MAX_REPLAY} messages: take a shorter range`))
      if (count === 0 && 'delivery' in wanted)
        refuse(problem('not-found', { detail: 'The endpoint has no such delivery, or it is still to be sent.' }))
      // A paused endpoint still needs an operator, so its finding stays open.
      if (count > 0 && state === 'active') await closeAbout(tx, 'webhook_failed', [id], 'sent again by an operator')
      return count
    })
    return c.json({ replayed }, 202)
  })

  app.get('/webhooks/:endpoint/history', async (c) => {
    const { endpoint_id } = orNone(await findEndpoint(sql, sealer, idOf(c)))
    return c.json(await readWebhookHistory(sql, endpoint_id, Date.now()))
  })

  app.post('/webhooks/:endpoint/try', async (c) => {
    const id = idOf(c)
    const tried = await sql.begin(async (tx) => {
      const endpoint = orNone(await findEndpoint(tx, sealer, id))
      if (endpoint.state === 'paused') refuse(problem('conflict', { detail: PAUSED }))
      return tryNow(tx, endpoint, operatorOf(c))
    })
    return c.json({ tried }, 202)
  })

  app.post('/webhooks/:endpoint/test', owner, async (c) => {
    const id = idOf(c)
    await sql.begin(async (tx) => {
      const endpoint = orNone(await findEndpoint(tx, sealer, id))
      if (endpoint.state === 'paused') refuse(problem('conflict', { detail: PAUSED }))
      await addTest(tx, endpoint, operatorOf(c))
    })
    return c.body(null, 202)
  })

  return app
}

const NO_ENDPOINT = 'There is no such webhook endpoint.'
const PAUSED = 'The endpoint is paused: resume it first.'

function inJson(backlog: Backlog | undefined): Partial<WebhookState> {
  if (!backlog) return {}
  const { fails_since, next_attempt_at, accepted_at, ...known } = backlog
  return {
    ...known,
    reason: known.failure === null ? null : reasonOf(known.failure),
    fails_since: fails_since?.toISOString() ?? null,
    next_attempt_at: next_attempt_at?.toISOString() ?? null,
    accepted_at: accepted_at?.toISOString() ?? null,
  }
}

/** An endpoint as the API returns it. `secret` is returned only once, to its creator. */
function describe(
  { endpoint_id, url, events, secrets, state, note, created_at }: Endpoint,
  secret?: string,
): WebhookState {
  const [first = '', ...others] = liveSecrets(secrets, Date.now())
  return {
    endpoint: endpoint_id,
    url,
    events,
    state,
    note,
    secret: secret ?? maskSecret(first),
    secrets_live: 1 + others.length,
    created_at: created_at.toISOString(),
  }
}
