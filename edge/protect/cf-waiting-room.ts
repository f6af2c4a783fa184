/**
 * Tells visitors their place in the fields of Cloudflare's Waiting Room (shared/api/cf-waiting-room.ts), so that
 * clients written for it understand this one, and pages written for it are shown as they are.
 */
import type { CfWaitingRoom } from '../../shared/api/cf-waiting-room.ts'
import { renderTemplate } from '../../shared/lib/mustache.ts'
import { isDrawn, isFinal, type Place, pollAfterMs } from '../../shared/schedule.ts'
import { refuseLost, requireAskedPlace } from '../admission/admit.ts'
import { type Call, NO_STORE, sendJson } from '../http/call.ts'
import type { SaleNow } from '../queue/sale-cache.ts'
import { lineNow } from '../queue/sale-now.ts'
import { lineOf } from '../visitor/credentials.ts'

/** True for a client that asks as those of Cloudflare do: with this one type and no other. */
export const asksAsCloudflare = ({ request }: Call) => request.headers.get('accept')?.trim() === 'application/json'

/** The route `GET /sales/{sale}/cf-waiting-room`. */
export async function cfWaitingRoom(sale: string, call: Call): Promise<Response> {
  const { claims } = (await requireAskedPlace(sale, call)).place
  const now = await lineNow(sale, lineOf(claims), call)
  await refuseLost(claims, now, call)
  return sendWaitingRoom(now, claims.num)
}

export const sendWaitingRoom = (now: SaleNow, number: number): Response =>
  sendJson({ cfWaitingRoom: waitingRoomOf(now, number) })

/**
 * A page written for Cloudflare may load styles and pictures, and no scripts. It comes again by itself, so it needs
 * none.
 */
const WAITING_PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'self' 'unsafe-inline' https:; img-src 'self' data: https:; font-src 'self' data: " +
    "https:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cache-control': NO_STORE,
}
const WAITING: readonly string[] = ['pre_queue', 'waiting', 'paused', 'all_in_carts'] satisfies Place['status'][]

/** The page of the site for those who wait; null if it has none, or the visitor does not wait. */
export function waitingPage(now: SaleNow, number: number, { config }: Call): Response | null {
  const template = config.protect?.find(({ sale, waitingPage }) => sale === now.sale && waitingPage)?.waitingPage
  if (!template || !WAITING.includes(now.place(number).status)) return null
  const room = waitingRoomOf(now, number)
  const { waitTime, refreshIntervalSeconds } = room
  const data = { ...room, waitTimeHours: Math.floor(waitTime / 60), waitTimeHourMinutes: waitTime % 60 }
  const headers = { ...WAITING_PAGE_HEADERS, refresh: String(refreshIntervalSeconds) }
  return new Response(renderTemplate(template, data), { headers })
}

const UNKNOWN = 'unavailable'
const minutes = (seconds: number) => Math.max(0, Math.ceil(seconds / 60))

/** The time in words, as Cloudflare writes it. */
function inWords(seconds: number | null): string {
  if (seconds === null) return UNKNOWN
  const all = minutes(seconds)
  const [hours, rest] = [Math.floor(all / 60), all % 60]
  const some = (value: number, unit: string) => (value === 1 ? `1 ${unit}` : `${value} ${unit}s`)
  return hours === 0
    ? some(rest, 'minute')
    : rest === 0
      ? some(hours, 'hour')
      : `${some(hours, 'hour')} ${some(rest, 'minute')}`
}

function waitingRoomOf(now: SaleNow, number: number): CfWaitingRoom['cfWaitingRoom'] {
  const { schedule, atMs } = now
  const place = now.place(number)
  const wait = place.status === 'ready' ? 0 : place.estimated_wait_time
  const isBefore = !isDrawn(schedule) && !isFinal(schedule.phase)
  const untilStart = isBefore ? (schedule.anchor_at_ms - atMs) / 1000 : null
  const untilEnd = schedule.ends_at_ms === null ? null : (schedule.ends_at_ms - atMs) / 1000
  const waitTime = wait === null ? 0 : minutes(wait)
  return {
    inWaitingRoom: place.status !== 'ready',
    waitTimeKnown: wait !== null,
    waitTime,
    waitTime25Percentile: waitTime,
    waitTime50Percentile: waitTime,
    waitTime75Percentile: waitTime,
    waitTimeFormatted: inWords(wait),
    queueIsFull: false,
    queueAll: place.status === 'paused',
    lastUpdated: new Date(atMs).toISOString(),
    refreshIntervalSeconds: Math.ceil(pollAfterMs(place, 1) / 1000),
    queueingMethod: isFinal(schedule.phase) ? 'reject' : isBefore ? 'random' : 'fifo',
    isFIFOQueue: !isBefore && !isFinal(schedule.phase),
    isRandomQueue: isBefore,
    isPassthroughQueue: false,
    isRejectQueue: isFinal(schedule.phase),
    isEventActive: !isBefore && !isFinal(schedule.phase),
    isEventPrequeueing: isBefore,
    timeUntilEventStart: untilStart === null ? 0 : minutes(untilStart),
    timeUntilEventStartFormatted: inWords(untilStart),
    timeUntilEventEnd: untilEnd === null ? 0 : minutes(untilEnd),
    timeUntilEventEndFormatted: inWords(untilEnd),
    shuffleAtEventStart: true,
    turnstile: '',
    infiniteQueue: false,
  }
}
