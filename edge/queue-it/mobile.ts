/** The call of an app's SDK, which shows the room in a web view and finds the token in the address that follows it. */
import * as v from 'valibot'
import { type Call, hostOf, readJson, refuse, sendJson } from '../http/call.ts'
import { limitAddress } from '../http/limits/rate-limits.ts'
import type { QueueItCustomer } from '../http/queue-it-setting.ts'
import { tokenAfterEvent } from './onwards.ts'
import { startOf } from './target.ts'
import { customerOf, isOver, mayEnter, saleOf } from './visit.ts'

const text = v.nullish(v.pipe(v.string(), v.maxLength(4_096)))
/** Fields that are not listed, such as the user's id, change nothing here. */
const Enqueue = v.object({ language: text, enqueueToken: text })

/** The route `POST /q/{customer}/api/mobileapp/queue/{customer}/{event}/enqueue`. */
export function enqueue(
  { customer: name, named, event }: Readonly<Record<'customer' | 'named' | 'event', string>>,
  call: Call,
): Promise<Response> | null {
  const customer = customerOf(name, call)
  if (customer && named !== name) refuse('not-found')
  return customer && roomFor(customer, event, call)
}

async function roomFor(customer: QueueItCustomer, event: string, call: Call): Promise<Response> {
  limitAddress('status', call.config.STATUS_PER_ADDRESS, call)
  const visit = { customer, event, sale: saleOf(event, customer) }
  const { language, enqueueToken } = await readJson(Enqueue, call.request)
  const answer = { QueueId: null, QueueUrl: null, QueueUrlTTLInMinutes: 0, EventTargetUrl: startOf(customer) }
  // SDKs take an id without a room as permission to pass.
  if (await isOver(visit.sale, call))
    return sendJson({ ...answer, QueueId: crypto.randomUUID(), QueueitToken: tokenAfterEvent(visit, call) })
  if (!(await mayEnter(enqueueToken ?? null, visit, call)))
    return refuse('refused', { detail: 'A valid enqueue token of the shop is required.' })
  const query = new URLSearchParams({ c: customer.customer, e: event, t: answer.EventTargetUrl })
  if (language) query.set('cid', language)
  if (enqueueToken) query.set('enqueuetoken', enqueueToken)
  return sendJson({ ...answer, QueueUrl: `${hostOf(call)}/q/${customer.customer}/?${query}`, QueueitToken: null })
}
