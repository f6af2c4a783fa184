/**
 * Decides which views count. It goes through the raw log in order and remembers what the rules need: the views that
 * last, and what each visitor has begun in the last hour. The same log from early enough gives the same decisions,
 * however it is cut into pages. Pure but for the state that it is given.
 */

import { MAX_WINDOW_MINUTES } from '../../shared/api/operators/views.ts'
import type { ViewEvent } from '../../shared/api/views/view-events.ts'
import { HEARTBEAT_SECONDS } from '../../shared/api/views/view-events.ts'
import { RecentMap } from '../../shared/lib/recent-map.ts'
import type { Before, Check, CompiledRules } from './rules.ts'

/** In each part of the log, the views and visitors remembered, those seen last; some 20 MB for each part at most. */
const MAX_VIEWS = 40_000
const MAX_VISITORS = 60_000
const MINUTE_MS = 60_000

/**
 * A heartbeat of an unknown view is the view's beginning only if the page was seen for at most so long: then its first
 * beacons were lost. Otherwise the view is known under another address or day, and has been counted there.
 */
const FIRST_SECONDS = 2 * HEARTBEAT_SECONDS
/** A view that was seen for too short a time counts once it has been seen long enough, within this time. */
export const SETTLES_MS = 30 * MINUTE_MS

interface View {
  readonly first: ViewEvent
  /** The first other rule that drops it. */
  readonly other: string | null
  /** The rule that drops it now; null: it counts. */
  rule: string | null
  /** True while it is dropped only for having been seen too short. */
  waits: boolean
  seenSeconds: number
}

export interface CountState {
  readonly views: RecentMap<string, View>
  /** When a visitor last began a view of a page. */
  readonly begun: RecentMap<string, { readonly atMs: number }>
  /** The views that a pseudonym or an address began, by minute. */
  readonly rates: RecentMap<string, Map<number, number>>
}

export const newState = (): CountState => ({
  views: new RecentMap(MAX_VIEWS),
  begun: new RecentMap(MAX_VISITORS),
  rates: new RecentMap(2 * MAX_VISITORS),
})

/** A change of the counts by one event. The minute of views is that of the first event, the one of seconds its own. */
export type Decision =
  | { readonly kind: 'counted'; readonly view: ViewEvent }
  | { readonly kind: 'dropped'; readonly view: ViewEvent; readonly rule: string }
  /** The view was dropped by this rule before, and is not any more. */
  | { readonly kind: 'undropped'; readonly view: ViewEvent; readonly rule: string }
  | { readonly kind: 'seen'; readonly view: ViewEvent; readonly atMs: number; readonly seconds: number }

/** The decisions that an event leads to. */
export function decide(state: CountState, rules: CompiledRules, event: ViewEvent): readonly Decision[] {
  const known = state.views.get(event.view)
  if (known) return heartbeat(known, rules.checks, event)
  if (event.seen_seconds > FIRST_SECONDS) return []
  const before = noteBegun(state, event)
  const other = rules.checks.find((check) => !check.waits && check.drops(event, before))?.rule ?? null
  const check = droppingCheck(rules.checks, other, event.seen_seconds)
  const { seen_seconds: seenSeconds } = event
  const view: View = { first: event, other, rule: check?.rule ?? null, waits: check?.waits ?? false, seenSeconds }
  state.views.set(event.view, view)
  return decisionsOf(view, event, seenSeconds)
}

function heartbeat(view: View, checks: readonly Check[], event: ViewEvent): readonly Decision[] {
  const seconds = Math.max(0, event.seen_seconds - view.seenSeconds)
  view.seenSeconds += seconds
  if (view.rule === null) return seconds > 0 ? [seen(view, event, seconds)] : []
  if (!view.waits || event.at_ms - view.first.at_ms > SETTLES_MS) return []
  const check = droppingCheck(checks, view.other, view.seenSeconds)
  if (check?.rule === view.rule) return []
  const undropped = { kind: 'undropped', view: view.first, rule: view.rule } as const
  view.rule = check?.rule ?? null
  view.waits = check?.waits ?? false
  return [undropped, ...decisionsOf(view, event, view.seenSeconds)]
}

function decisionsOf(view: View, event: ViewEvent, seconds: number): readonly Decision[] {
  if (view.rule !== null) return [{ kind: 'dropped', view: view.first, rule: view.rule }]
  const counted = { kind: 'counted', view: view.first } as const
  return seconds > 0 ? [counted, seen(view, event, seconds)] : [counted]
}

const seen = ({ first }: View, { at_ms: atMs }: ViewEvent, seconds: number): Decision =>
  ({ kind: 'seen', view: first, atMs, seconds }) as const

/** The first rule that drops a view which has been seen for so long, and which `other` drops besides. */
const droppingCheck = (checks: readonly Check[], other: string | null, seenSeconds: number): Check | undefined =>
  checks.find((check) => (check.waits ? seenSeconds < check.seconds : check.rule === other))

/** Remembers that a view begins, and returns what was before. Each sale has visitors of its own. */
function noteBegun({ begun, rates }: CountState, event: ViewEvent): Before {
  const { sale, page, pseudonym, at_ms } = event
  const key = `${sale} ${page} ${pseudonym}`
  const last = begun.get(key)
  begun.set(key, { atMs: Math.max(at_ms, last?.atMs ?? 0) })
  const minute = Math.floor(at_ms / MINUTE_MS)
  const byWhom = {
    pseudonym: rates.getOrAdd(`${sale} by ${pseudonym}`, () => new Map()),
    address: rates.getOrAdd(`${sale} at ${event.address}`, () => new Map()),
  }
  for (const byMinute of Object.values(byWhom)) {
    byMinute.set(minute, (byMinute.get(minute) ?? 0) + 1)
    if (byMinute.size > MAX_WINDOW_MINUTES) byMinute.delete(Math.min(...byMinute.keys()))
  }
  return {
    sinceRepeatMs: last ? Math.abs(at_ms - last.atMs) : Number.POSITIVE_INFINITY,
    viewsIn(minutes, per) {
      let views = 0
      for (const [at, many] of byWhom[per]) if (at > minute - minutes && at <= minute) views += many
      return views
    },
  }
}
