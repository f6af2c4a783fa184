/** The fairness of a sale: the proof of its draw, and how many buyers were overtaken. */
import { clock } from '../../../../../shared/format.ts'
import { count } from '../../format.ts'
import { Copy } from '../../parts.tsx'
import { State } from '../../sheet/marks.tsx'
import { Columns, Section } from '../../sheet/page.tsx'
import type { Report } from './read-report.ts'

type Line = Report['fairness'][number]

export const Fairness = ({ fairness }: Pick<Report, 'fairness'>) => (
  <>
    {fairness.map((line) => (
      <Columns key={line.line} split="repeat(2, minmax(0, 1fr))">
        <Order fairness={line} title={fairness.length === 1 ? 'Fairness' : `Fairness of the line ${line.line}`} />
        <Section title={fairness.length === 1 ? 'The draw' : `The draw of the line ${line.line}`}>
          {line.draw ? <Draw draw={line.draw} /> : <p>The draw is unknown.</p>}
        </Section>
      </Columns>
    ))}
  </>
)

function Order({ fairness, title }: { readonly fairness: Line; readonly title: string }) {
  const { draw, compared, rank_correlation, overtaking, before_turn, note } = fairness
  const state =
    draw?.holds === true ? (
      <State level="good">The draw holds</State>
    ) : (
      draw?.holds === false && <State level="bad">The draw does not hold</State>
    )
  const facts = overtaking && [
    ['Ordered before they were called', before_turn === null ? 'unknown' : count(before_turn)],
    ['Orders compared', count(compared)],
    ['Ordered after somebody behind them', count(overtaking.overtaken)],
    ['Worst overtaking, in places', overtaking.overtaken === 0 ? 'none' : count(overtaking.worst_positions)],
    ['Place and order agree', rank_correlation === null ? 'too few' : `${rank_correlation.toFixed(3)} of 1`],
  ]
  return (
    <Section title={title} aside={state}>
      {overtaking && overtaking.overtaken > 0 && <p>The worst overtaking took {lasting(overtaking.worst_seconds)}.</p>}
      {note !== null && <p>{note}</p>}
      {facts && (
        <>
          <dl class="facts">
            {facts.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
          <p class="small quiet">
            People take their own time once they are called, so overtaking is no fault while it is shorter than the time
            for which a turn is kept.
          </p>
        </>
      )}
    </Section>
  )
}

function Draw({ draw }: { readonly draw: NonNullable<Line['draw']> }) {
  const { commitment, seed, beacon, beacon_announced, drawn, holds, schedule_url, verify } = draw
  const hasNoBeacon = beacon_announced && beacon === null && seed !== null
  return (
    <>
      <p>
        {holds === null && 'The draw is not made yet.'}
        {holds === true && drawn === 0 && 'Nobody came before the opening, so that no places were drawn.'}
        {holds === true &&
          drawn > 0 &&
          `${drawn === 1 ? '1 number was' : `${count(drawn)} numbers were`} drawn, with the seed whose fingerprint ` +
            'was published.'}
        {holds === false && 'The seed does not fit the fingerprint that is published: this draw cannot be trusted.'}
        {hasNoBeacon && ' A public beacon was announced, and none came in time.'}
      </p>
      <dl class="proof mono">
        <dt>Commitment</dt>
        <dd>{commitment}</dd>
        {seed !== null && <dt>Seed</dt>}
        {seed !== null && <dd>{seed}</dd>}
        {beacon !== null && <dt>Beacon</dt>}
        {beacon !== null && <dd>{beacon}</dd>}
      </dl>
      <div class="copy-row">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys. */}
        <pre class="mono" tabIndex={0}>
          <code>{verify}</code>
        </pre>
        <Copy name="the command" text={verify} />
      </div>
      <p class="small quiet">
        Anyone can run it, with public data alone: the{' '}
        {schedule_url === null ? 'schedule' : <a href={schedule_url}>schedule</a>}.
      </p>
    </>
  )
}

/** Shows times under two minutes in seconds. */
const lasting = (seconds: number) => (seconds < 120 ? `${seconds.toFixed(1)} s` : clock('en', seconds))
