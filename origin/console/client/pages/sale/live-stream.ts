/** Receives a running sale as the origin streams it: the latest state, and its age. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Figures, Minute } from '../../../../../shared/api/operators/report.ts'
import { admin, read } from '../../api.ts'
import { queries } from '../../session.ts'

const readLive = (sale: string) => read(admin.sales[':sale'].live.$get({ param: { sale } }))
export type Live = Awaited<ReturnType<typeof readLive>>

/** After this time without data the page marks its figures as old. */
export const OLD_AFTER_MS = 5_000
const TICK_MS = 250
const AGAIN_MS = 2_000

/** Follows a sale. `ageMs` is the time since the latest state arrived; `nowMs` is the time of the origin's clock. */
export function useLive(sale: string) {
  const latest = useSignal<{ readonly live: Live; readonly atMs: number } | null>(null)
  const tick = useSignal(0)
  const error = useSignal<unknown>(null)
  useEffect(() => {
    let events: EventSource
    let again = 0
    const path = `/admin/sales/${encodeURIComponent(sale)}/live`
    const follow = () => {
      events = new EventSource(path)
      events.addEventListener('live', ({ data }) => {
        latest.value = { live: JSON.parse(data), atMs: performance.now() }
        error.value = null
      })
      // A browser reconnects by itself only if there was no response. An error response ends the stream.
      events.addEventListener('error', () => {
        if (events.readyState !== EventSource.CLOSED) return
        again = window.setTimeout(follow, AGAIN_MS)
        // This call says what the error is, which an event stream does not.
        queries.fetchQuery({ queryKey: ['live', sale], queryFn: () => readLive(sale) }).catch((failure) => {
          error.value = failure
        })
      })
    }
    follow()
    const timer = setInterval(() => {
      tick.value++
    }, TICK_MS)
    return () => {
      events.close()
      clearTimeout(again)
      clearInterval(timer)
    }
  }, [sale])
  // Reading the signal makes the page render again as time passes.
  void tick.value
  if (latest.value === null) return { seen: null, error: error.value }
  const ageMs = performance.now() - latest.value.atMs
  const { live } = latest.value
  return { seen: { live: addAge(live, ageMs), ageMs, nowMs: Date.parse(live.read_at) + ageMs }, error: error.value }
}

/** The current health is unknown without new data. */
function addAge(live: Live, ageMs: number): Live {
  if (ageMs <= OLD_AFTER_MS) return live
  const need = {
    part: 'Console',
    level: 'bad',
    what: 'No news reaches this page.',
    since: live.read_at,
    advice: 'What is below may have changed. It tries again by itself; check your network, then the origin.',
    place: { text: 'Load it again', href: '' },
  } as const
  const parts = live.summary.parts.map(({ name }) => ({ name, level: 'unknown', text: 'not known now' }) as const)
  return { ...live, summary: { level: 'bad', text: 'Nobody knows how it goes.', needs: [need], parts } }
}

const MINUTE_MS = 60_000

/** The counts of all minutes of the sale. */
export function totals({ minutes, before }: Pick<Live, 'minutes' | 'before'>): Figures {
  const sums: Record<string, number> = { ...before }
  for (const { counts } of minutes)
    for (const [name, value] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + value
  return sums
}

/**
 * The figures of the calendar minute that is `ago` minutes before the current one; empty for a minute without a row.
 */
export function minuteAgo(ago: number, minutes: readonly Minute[], nowMs: number): Figures {
  const from = MINUTE_MS * (Math.floor(nowMs / MINUTE_MS) - ago)
  const isIt = ({ minute }: Minute) => Date.parse(minute) === from
  const at = minutes.findIndex(isIt)
  const found = minutes[at]
  if (!found) return {}
  // In its first minute a sale has added the whole value of the gauge.
  const added = (name: string) => grown(minutes, name)[at] ?? (at === 0 ? found.gauges[name] : 0) ?? 0
  return { ...found.counts, called: added('called'), arrived: added('arrived') }
}

/** The counts whose name has this prefix, the largest first. */
export function byReason(counts: Figures, prefix: string): readonly (readonly [string, number])[] {
  return Object.entries(counts)
    .flatMap(([name, value]) => (name.startsWith(prefix) ? [[name.slice(prefix.length), value] as const] : []))
    .sort(([, a], [, b]) => b - a)
}

/** The increase of a growing gauge in each minute. */
function grown(minutes: readonly Minute[], name: string): (number | null)[] {
  return minutes.map(({ gauges }, i) => {
    const [now, before] = [gauges[name], minutes[i - 1]?.gauges[name]]
    if (now === undefined) return null
    return before === undefined ? (i === 0 ? now : null) : Math.max(0, now - before)
  })
}
