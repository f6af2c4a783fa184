/** The curves of a report, and the accuracy of the displayed waits. */
import { FlowChart, RateChart, StockChart, WaitChart, WaitingChart } from '../../charts.tsx'
import { fillGaps } from '../../gap-fill.ts'
import { count, figure } from '../../parts.tsx'
import { type Report, Section } from './figures.tsx'

export function Curves({ curves, waits }: Pick<Report, 'curves' | 'waits'>) {
  const { minutes_per_point } = curves
  const minutes = fillGaps(curves.minutes)
  if (minutes.length === 0) return <Section title="Curves">Nothing is known of the sale's minutes.</Section>
  return (
    <>
      <div class="columns">
        <FlowChart minutes={minutes} {...(minutes_per_point > 1 && { title: `Each ${minutes_per_point} minutes` })} />
        <StockChart minutes={minutes} />
        <WaitingChart minutes={minutes} />
        <RateChart minutes={minutes} />
        {waits.minutes.length > 0 && <WaitChart minutes={minutes} />}
      </div>
      <Section title="Waits as shown, and as they were">
        <p>
          {waits.compared === 0 || waits.median_error_seconds === null || waits.worst_error_seconds === null
            ? 'In no minute are both known.'
            : `In ${count(waits.compared)} ${waits.compared === 1 ? 'minute' : 'minutes'} somebody was shown a ` +
              'wait and then called. Of each, the wait counts that was furthest off: half of these were wrong by ' +
              `at most ${figure(waits.median_error_seconds)} s, the worst by ` +
              `${figure(waits.worst_error_seconds)} s.`}
        </p>
      </Section>
    </>
  )
}
