/** Push messages: a page's script subscribes its browser to a sale's messages, and ends them. */
import { PUBLIC_LINE } from '../../shared/api/access.ts'
import type { PushRequest } from '../../shared/api/internal.ts'
import { EndedPush, PushSubscription } from '../../shared/api/mails.ts'
import { type Problem, ProblemError } from '../../shared/problem.ts'
import { mayLeave } from '../../shared/schedule.ts'
import type { QueueClaims } from '../../shared/tokens.ts'
import { type Call, readJson, refuse, sendNothing } from '../http/call.ts'
import { limitAddress } from '../http/limits/rate-limits.ts'
import { tellOrigin } from '../http/origin.ts'
import type { SaleNow } from '../queue/sale-cache.ts'
import { inLine, publicNow } from '../queue/sale-now.ts'
import { lineOf } from '../visitor/credentials.ts'
import { languageOf } from '../visitor/language.ts'
import { authenticate, placeOf, setSecretCookie, visitorOf } from '../visitor/visitor.ts'

/**
 * The route `POST /sales/{sale}/push` with a `PushSubscription` of the Push API. Messages are about a future turn and
 * orders, or about a restock if all is sold. The status is 422 if no message could be sent to the subscription.
 */
export async function requestPush(sale: string, call: Call): Promise<Response> {
  limitAddress('push', call.config.JOINS_PER_ADDRESS, call)
  const push = await readJson(PushSubscription, call.request)
  const now = await publicNow(sale, call)
  const isSoldOut = now.schedule.phase === 'sold_out'
  const { claims: place } = (isSoldOut ? null : placeOf(await authenticate(sale, call), call)) ?? {}
  const asked: PushRequest = {
    about: isSoldOut ? 'restock' : 'turn',
    push,
    language: languageOf(call).lang,
    line: place ? lineOf(place) : PUBLIC_LINE,
    visitor: place?.sub ?? (await visitorWithoutPlace(isSoldOut, call)),
    number: place && (await waits(place, now, call)) ? place.num : null,
  }
  return tell('POST', sale, asked, call)
}

/** The route `DELETE /sales/{sale}/push` with the subscription's `endpoint`, which nobody else knows. */
export async function endPush(sale: string, call: Call): Promise<Response> {
  limitAddress('push', call.config.JOINS_PER_ADDRESS, call)
  return tell('DELETE', sale, await readJson(EndedPush, call.request), call)
}

const waits = async ({ num, ...place }: QueueClaims, publicly: SaleNow, call: Call) =>
  mayLeave((await inLine(publicly, lineOf(place), call)).place(num).status)

/** A buyer with an expired place is recognised. If all is sold, any visitor is recorded from now on. */
async function visitorWithoutPlace(isSoldOut: boolean, call: Call): Promise<string> {
  const visitor = await visitorOf(null, call)
  if (!visitor.known && !isSoldOut) refuse('invalid-token')
  setSecretCookie(visitor, call)
  return visitor.name
}

async function tell(method: 'POST' | 'DELETE', sale: string, body: object, call: Call): Promise<Response> {
  const response = await tellOrigin(method, `/sales/${sale}/push-asks`, body, call)
  // The body names the error in the subscription.
  if (!response.ok) throw new ProblemError(await response.json<Problem>())
  await response.body?.cancel()
  return sendNothing()
}
