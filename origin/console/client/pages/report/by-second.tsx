/** The opening of a sale by the second, and all of it by the minute, with what operators did meanwhile. */
import { useQuery } from '@tanstack/preact-query'
import type { Second } from '../../../../../shared/api/operators/seconds.ts'
import { admin, read } from '../../api.ts'
import { count, time } from '../../format.ts'
import { TimeChart } from '../../sheet/time-chart.tsx'
import { byMinutes, marksOf, ratesByMinute, ratesBySecond, valuesOf } from '../sale/seconds-chart.tsx'
import type { Report } from './read-report.ts'

/** The chart begins before the opening, and ends after the last unit was sold. */
const [BEFORE_MS, AFTER_MS] = [30_000, 90_000]
/** The seconds of the first quarter of an hour are kept for the report. */
const KEPT_MS = 15 * 60_000
const SPANS = [[null, 'All']] as const

export function BySecond({ report }: { readonly report: Report }) {
  const openedMs = Date.parse(report.figures.opened_at)
  const overAt = report.figures.sold_out_at ?? report.figures.ended_at
  const overMs = overAt === null ? Number.POSITIVE_INFINITY : Date.parse(overAt) + AFTER_MS
  const [from, to] = [openedMs - BEFORE_MS, Math.min(openedMs - BEFORE_MS + KEPT_MS, overMs)].map((ms) =>
    new Date(ms).toISOString(),
  )
  const { data } = useQuery({
    queryKey: ['report seconds', report.sale, report.made_at],
    queryFn: () => read(admin.sales[':sale'].seconds.$get({ param: { sale: report.sale }, query: { from, to } })),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const seconds: readonly Second[] = data?.seconds ?? []
  if (!data || seconds.every(({ sold, paid }) => sold === null && paid === null)) return <ByMinute report={report} />
  const values = valuesOf(seconds)
  const most = seconds.reduce((a, b) => ((b.waiting ?? 0) > (a.waiting ?? 0) ? b : a))
  return (
    <TimeChart
      title="By the second"
      times={seconds.map(({ at }) => Date.parse(at))}
      panes={[
        ratesBySecond(values),
        {
          title: 'Units: sold, and held',
          lines: [
            { name: 'Sold', values: values('sold'), colour: '--c1', kind: 'area' },
            { name: 'Held', values: values('held'), colour: '--c2' },
          ],
        },
        {
          title: `Waiting${most.waiting ? `: ${count(most.waiting)} at most, at ${time(most.at)}` : ''}`,
          lines: [{ name: 'Waiting', values: values('waiting'), colour: '--c2', kind: 'area' }],
        },
      ]}
      marks={marksOf(data.markers, report.figures.opened_at, data.until)}
      spans={SPANS}
      initial={null}
      aside={<span class="small quiet">Times in {Intl.DateTimeFormat().resolvedOptions().timeZone}</span>}
    />
  )
}

/** What is known of a sale whose seconds nobody counted. */
function ByMinute({ report: { curves, figures } }: { readonly report: Report }) {
  const { times, counted, gauge } = byMinutes(curves.minutes, curves.minutes_per_point)
  if (times.length === 0) return null
  return (
    <TimeChart
      title={curves.minutes_per_point === 1 ? 'By the minute' : `By ${curves.minutes_per_point} minutes`}
      times={times}
      panes={[
        ratesByMinute(counted),
        {
          title: 'Units: sold, and held',
          lines: [
            { name: 'Sold', values: gauge('sold'), colour: '--c1', kind: 'area' },
            { name: 'Held', values: gauge('held'), colour: '--c2' },
          ],
        },
        { title: 'Waiting', lines: [{ name: 'Waiting', values: gauge('waiting'), colour: '--c2', kind: 'area' }] },
      ]}
      marks={marksOf([], figures.opened_at, figures.opened_at)}
      spans={SPANS}
      initial={null}
    />
  )
}
