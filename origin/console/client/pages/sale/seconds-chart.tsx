/** The sale by the second: what was paid, reserved and called, with what operators did; older by the minute. */

import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import { useRef } from 'preact/hooks'
import type { Minute } from '../../../../../shared/api/operators/report.ts'
import type { Marker, Second, SecondsAnswer } from '../../../../../shared/api/operators/seconds.ts'
import { admin, read } from '../../api.ts'
import { count } from '../../format.ts'
import type { IconName } from '../../sheet/icon.tsx'
import { type Mark, type Pane, TimeChart } from '../../sheet/time-chart.tsx'
import type { Live } from './live-stream.ts'

const KEPT = 900
const SECOND_MS = 1_000
/** The latest seconds are read again, because orders are counted a moment after they happen. */
const AGAIN_MS = 12_000

const call = admin.sales[':sale'].seconds
const readSeconds = (sale: string, from?: string): Promise<SecondsAnswer> =>
  read(call.$get({ param: { sale }, query: from === undefined ? {} : { from } })) as Promise<SecondsAnswer>

export interface Followed {
  readonly seconds: readonly Second[]
  readonly markers: readonly Marker[]
}
const NOTHING: Followed = { seconds: [], markers: [] }

/** Reads the last quarter of an hour once, and then with each message of the stream what is new. */
export function useSeconds(sale: string, readAt: string | undefined): Followed {
  const known = useRef<Followed>(NOTHING)
  const { data } = useQuery({
    queryKey: ['seconds', sale, readAt],
    queryFn: async () => {
      const last = known.current.seconds.at(-1)
      const from = last && new Date(Date.parse(last.at) - AGAIN_MS).toISOString()
      const answer = await readSeconds(sale, from)
      known.current = merged(known.current, answer)
      return known.current
    },
    enabled: readAt !== undefined,
    placeholderData: (before: Followed | undefined) => before ?? known.current,
    gcTime: 0,
  })
  return data ?? known.current
}

function merged(before: Followed, { seconds, markers }: SecondsAnswer): Followed {
  const first = seconds[0]?.at
  const old = first === undefined ? before.seconds : before.seconds.filter(({ at }) => at < first)
  const since = markers[0]?.at
  return {
    seconds: [...old, ...seconds].slice(-KEPT),
    markers: [
      ...before.markers.filter(
        ({ at }) => (since === undefined || at < since) && !markers.some((one) => one.at === at),
      ),
      ...markers,
    ],
  }
}

const SPANS = [
  [1, '1 min'],
  [5, '5 min'],
  [15, '15 min'],
  [null, 'All'],
] as const

interface SecondsChartProps {
  readonly live: Live
  readonly followed: Followed
}

export function SecondsChart({ live, followed: { seconds, markers } }: SecondsChartProps) {
  const chosen = useSignal<number | null>(5)
  const marks = marksOf(markers, live.state.opens_at, live.read_at)
  if (chosen.value === null)
    return <MinutesChart live={live} marks={marks} onSpan={(minutes) => (chosen.value = minutes)} />
  const values = valuesOf(seconds)
  return (
    <TimeChart
      title="By the second"
      times={seconds.map(({ at }) => Date.parse(at))}
      panes={[
        ratesBySecond(values),
        {
          title: 'Joined, a second',
          lines: [{ name: 'Joined', values: values('joined'), colour: '--c3', kind: 'area', unit: ' /s' }],
        },
        {
          title: 'Waiting',
          lines: [{ name: 'Waiting', values: values('waiting'), colour: '--c2', kind: 'area' }],
        },
      ]}
      marks={marks}
      spans={SPANS}
      initial={chosen.value}
      onSpan={(minutes) => (chosen.value = minutes)}
    />
  )
}

/** The values of one name in all seconds. */
export const valuesOf = (seconds: readonly Second[]) => (name: Exclude<keyof Second, 'at'>) =>
  seconds.map((second) => second[name])

/** The first pane of a chart by the second: what was paid, reserved and called. */
export const ratesBySecond = (values: ReturnType<typeof valuesOf>): Pane => ({
  lines: [
    { name: 'Paid', values: values('paid'), colour: '--c1', kind: 'area', unit: ' /s' },
    { name: 'Reserved', values: values('reserved'), colour: '--c2', unit: ' /s' },
    { name: 'Called', values: values('called'), colour: '--c3', unit: ' /s' },
    { name: 'Asked for', values: values('asked'), colour: '--c3', kind: 'step', unit: ' /s' },
  ],
})

const MINUTE_MS = 60_000

/**
 * The values of a chart by so many minutes. A minute without a row is one in which nothing happened, so that its gauges
 * are those before.
 */
export function byMinutes(minutes: readonly Minute[], minutesEach = 1) {
  const stepMs = minutesEach * MINUTE_MS
  const byTime = new Map(minutes.map((one) => [Date.parse(one.minute), one]))
  const [first, last] = [Math.min(...byTime.keys()), Math.max(...byTime.keys())]
  const times =
    byTime.size === 0
      ? []
      : Array.from({ length: 1 + Math.round((last - first) / stepMs) }, (_, i) => first + i * stepMs)
  return {
    times,
    /** The counts of a name a second. */
    counted: (name: string) => times.map((ms) => (byTime.get(ms)?.counts[name] ?? 0) / (stepMs / 1_000)),
    gauge(name: string) {
      let known: number | null = null
      return times.map((ms) => {
        known = byTime.get(ms)?.gauges[name] ?? known
        return known
      })
    },
  }
}

/** The first pane of a chart by the minute: what was paid and reserved. */
export const ratesByMinute = (counted: (name: string) => readonly number[]): Pane => ({
  lines: [
    { name: 'Paid', values: counted('confirmed'), colour: '--c1', kind: 'area', unit: ' /s' },
    { name: 'Reserved', values: counted('reserved'), colour: '--c2', unit: ' /s' },
  ],
})

/** All that is known, by the minute. */
function MinutesChart({
  live: { minutes },
  marks,
  onSpan,
}: Pick<SecondsChartProps, 'live'> & {
  readonly marks: readonly Mark[]
  onSpan(minutes: number | null): void
}) {
  const { times, counted, gauge } = byMinutes(minutes)
  return (
    <TimeChart
      title="By the minute"
      times={times}
      panes={[
        ratesByMinute(counted),
        {
          title: 'Joined, a second',
          lines: [{ name: 'Joined', values: counted('joined'), colour: '--c3', kind: 'area', unit: ' /s' }],
        },
        { title: 'Waiting', lines: [{ name: 'Waiting', values: gauge('waiting'), colour: '--c2', kind: 'area' }] },
      ]}
      marks={marks}
      spans={SPANS}
      initial={null}
      onSpan={onSpan}
    />
  )
}

const MARKS: Readonly<Record<string, IconName>> = {
  opened: 'flag',
  paused: 'pause',
  ended: 'x',
  'rate set': 'rate',
  restocked: 'box',
  announced: 'horn',
  'rule added': 'rules',
}

/** What operators did, and the opening. A pause is a band until it ends. */
export function marksOf(markers: readonly Marker[], opensAt: string, readAt: string): Mark[] {
  const opened: Mark = { atMs: Date.parse(opensAt), text: 'Opened', icon: 'flag' }
  const done = markers.flatMap((marker, i): Mark[] => {
    const { action, at } = marker
    const icon = MARKS[action]
    if (icon === undefined || action === 'opened') return []
    const atMs = Date.parse(at)
    if (action !== 'paused') return [{ atMs, text: textOf(marker), icon }]
    const end = markers.slice(i).find((later) => later.action === 'resumed' || later.action === 'ended')
    const untilMs = Date.parse(end?.at ?? readAt)
    return [{ atMs, untilMs, text: `Paused ${durationOf((untilMs - atMs) / SECOND_MS)}`, icon }]
  })
  return [opened, ...done]
}

const durationOf = (seconds: number) =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`

function textOf({ action, before, after }: Marker): string {
  switch (action) {
    case 'rate set':
      return `Rate ${count(Number(before?.rate_per_second))} → ${count(Number(after?.rate_per_second))}`
    case 'restocked':
      return `+${count(Number(after?.quantity))}`
    case 'announced':
      return 'Announced'
    case 'ended':
      return 'Ended'
    default:
      return 'Rule'
  }
}
