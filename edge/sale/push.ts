/** Messages by push: a page's script subscribes its browser to those of a sale, and ends that. */
import { PUBLIC_LINE } from '../../shared/api/access.ts'
import type { PushAsk } from '../../shared/api/internal.ts'
import { EndedPush, PushSubscription } from '../../shared/api/mails.ts'
import { type Problem, ProblemError } from '../../shared/problem.ts'
import { limitAddress } from '../admission/limits/rate-limits.ts'
import { type Call, publicNow, readJson, sendNothing } from '../call.ts'
import { tellOrigin } from '../origin.ts'
import { lineOf } from '../visitor/credentials.ts'
import { languageOf } from '../visitor/language.ts'
import { requirePlace, setSecretCookie, visitorOf } from '../visitor/visitor.ts'

/**
 * `POST /sales/{sale}/push` with a `PushSubscription` of the Push API: about one's turn and orders; about a restock where all is sold.
 * 422 where no message could be sent to it.
 */
export async function askForPush(sale: string, call: Call): Promise<Response> {
  limitAddress('push', call.config.JOINS_PER_ADDRESS, call)
  const push = await readJson(PushSubscription, call.request)
  const { schedule } = await publicNow(sale, call)
  const place = schedule.phase === 'sold_out' ? null : (await requirePlace(sale, call)).claims
  const asked: PushAsk = {
    about: place ? 'turn' : 'restock',
    push,
    language: languageOf(call).lang,
    line: place ? lineOf(place) : PUBLIC_LINE,
    visitor: place?.sub ?? (await knownVisitor(call)),
    number: place?.num ?? null,
  }
  return tell('POST', sale, asked, call)
}

/** `DELETE /sales/{sale}/push` with its `endpoint`, which nobody else knows. */
export async function endPush(sale: string, call: Call): Promise<Response> {
  limitAddress('push', call.config.JOINS_PER_ADDRESS, call)
  return tell('DELETE', sale, await readJson(EndedPush, call.request), call)
}

/** The visitor, known from now on. */
async function knownVisitor(call: Call): Promise<string> {
  const visitor = await visitorOf(null, call)
  setSecretCookie(visitor, call)
  return visitor.name
}

async function tell(method: 'POST' | 'DELETE', sale: string, body: object, call: Call): Promise<Response> {
  const response = await tellOrigin(method, `/sales/${sale}/push-asks`, body, call)
  // What is wrong with the subscription.
  if (!response.ok) throw new ProblemError(await response.json<Problem>())
  await response.body?.cancel()
  return sendNothing()
}
