/**
 * The routes `POST /sales/{sale}/views` and `POST /views`: a page says that it is seen. Pages come from caches, so
 * that views cannot be counted where pages are served. A beacon sets no cookie, asks no object and waits for nothing.
 */
import { ViewBeacon } from '../../shared/api/views/view-events.ts'
import { type Call, NO_STORE, readJson } from '../http/call.ts'
import { limitAddress } from '../http/limits/rate-limits.ts'
import { Gathering } from './gathering.ts'
import { viewEvent, wantsNoRecord } from './view-event.ts'

/** The events of this isolate. */
const gathering = new Gathering()

/** `sale` is null for the front. */
export async function beacon(sale: string | null, call: Call): Promise<Response> {
  limitAddress('views', call.config.VIEWS_PER_ADDRESS, call)
  const sent = await readJson(ViewBeacon, call.request)
  if (!wantsNoRecord(call.request)) {
    const event = viewEvent(sent, sale, call)
    gathering.add(event, call)
    // Analytics Engine writes without a wait, so that each event is written where it arrives.
    call.env.VIEWS_ANALYTICS?.writeDataPoint({
      indexes: [event.sale ?? ''],
      blobs: [event.page, event.source, event.country, event.device, event.language, event.network],
      doubles: [event.seen_seconds],
    })
  }
  return new Response(null, { status: 202, headers: { 'cache-control': NO_STORE } })
}
