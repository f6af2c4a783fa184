/**
 * Gathers events in an isolate and sends them to the origin together: after some seconds, or earlier when there are
 * many. No beacon waits for it. An isolate that ends loses what it has gathered, at most the events of these seconds.
 */
import { MAX_BATCH_BYTES, MAX_BATCH_EVENTS, type ViewEvent } from '../../shared/api/views/view-events.ts'
import { assert } from '../../shared/lib/assert.ts'
import { type Call, warn } from '../http/call.ts'
import { callInternal } from '../http/origin.ts'
import { isAhead, Waiting } from '../http/waiting.ts'

/** An event waits this long for others. */
const GATHER_MS = 5_000
/** This many events are sent without a further wait. */
const BATCH_EVENTS = 500
/** The events that an isolate keeps while the origin does not take them; later ones are dropped and counted. */
const MAX_EVENTS = 2_000
/**
 * The gathering request ends by this time after it began, or its isolate has ended it. The platform ends work behind
 * a response after 30 s.
 */
const ROUND_MS = 30_000
/** A message of Cloudflare Queues has at most 128 KB. */
const MESSAGE_EVENTS = 200

/** What one event of the longest fields takes as JSON. */
const MAX_EVENT_BYTES = 500
assert(MAX_EVENTS <= MAX_BATCH_EVENTS && MAX_EVENTS * MAX_EVENT_BYTES <= MAX_BATCH_BYTES, 'The origin takes a batch.')

export class Gathering {
  #events: ViewEvent[] = []
  /** A batch that failed once. It goes first the next time, and is then dropped if it fails again. */
  #failed: ViewEvent[] = []
  #dropped = 0
  #gathersUntilMs = 0
  readonly #full = new Waiting()

  add(event: ViewEvent, call: Call): void {
    if (this.#events.length + this.#failed.length >= MAX_EVENTS) {
      this.#dropped++
      return
    }
    this.#events.push(event)
    if (this.#events.length >= BATCH_EVENTS) this.#full.resolveAll()
    if (isAhead(this.#gathersUntilMs, Date.now(), ROUND_MS)) return
    this.#gathersUntilMs = Date.now() + ROUND_MS
    call.ctx.waitUntil(this.#gather(call))
  }

  async #gather(call: Call): Promise<void> {
    if (this.#events.length < BATCH_EVENTS) await this.#full.wait(GATHER_MS, undefined)
    this.#gathersUntilMs = 0
    const [failed, events] = [this.#failed, this.#events]
    this.#failed = []
    this.#events = []
    await passToQueue(events, call)
    // While the origin fails, one call finds it out.
    const isTaken = failed.length === 0 || (await this.#send(failed, call))
    if (!isTaken) this.#dropped += failed.length
    if (!isTaken || !(await this.#send(events, call))) this.#failed.push(...events)
  }

  async #send(events: readonly ViewEvent[], call: Call): Promise<boolean> {
    const dropped = this.#dropped
    try {
      const body = JSON.stringify({ dropped, events })
      const headers = { 'content-type': 'application/json' }
      const response = await callInternal('/views', call, { method: 'POST', headers, body })
      await response.body?.cancel()
      if (!response.ok) throw new Error(`the origin answered ${response.status}`)
      this.#dropped -= dropped
      return true
    } catch (error) {
      warn('views not taken', { events: events.length, why: String(error) }, call)
      return false
    }
  }
}

/** Sends the events to Cloudflare Queues too, if a queue is bound. */
async function passToQueue(events: readonly ViewEvent[], call: Call): Promise<void> {
  const { VIEWS_QUEUE } = call.env
  if (!VIEWS_QUEUE) return
  try {
    for (let from = 0; from < events.length; from += MESSAGE_EVENTS)
      await VIEWS_QUEUE.send(events.slice(from, from + MESSAGE_EVENTS))
  } catch (error) {
    warn('queue did not take views', { why: String(error) }, call)
  }
}
