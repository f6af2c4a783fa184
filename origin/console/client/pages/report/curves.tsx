/** The curves of a report, and how right the waits were that people saw. */
import { FlowChart, StockChart, WaitChart, WaitingChart } from '../../charts.tsx'
import { fillGaps } from '../../gap-fill.ts'
import { count } from '../../parts.tsx'
import { type Report, Section } from './section.tsx'

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
        {waits.minutes.length > 0 && (
          <WaitChart
            minutes={waits.minutes}
            shown={waits.minutes.map((one) => one.shown_seconds)}
            real={waits.minutes.map((one) => one.real_seconds)}
          />
        )}
      </div>
      <Section title="Waits as shown, and as they were">
        <p>
          {waits.compared === 0 || waits.median_error_seconds === null || waits.worst_error_seconds === null
            ? 'In no minute are both known.'
            : `Of ${count(waits.compared)} minutes both are known: half of the waits shown were wrong by at most ${count(Math.round(waits.median_error_seconds))} s, the worst by ${count(Math.round(waits.worst_error_seconds))} s. Real waits are calculated from what was called by the end of each minute.`}
        </p>
      </Section>
    </>
  )
}
