/** The fairness of a sale: the proof of its draw, and how many buyers were overtaken. */
import { clock } from '../../../../../shared/format.ts'
import { count } from '../../parts.tsx'
import { type Report, Section } from './figures.tsx'

type Line = Report['fairness'][number]

export function Fairness({ fairness }: Pick<Report, 'fairness'>) {
  return (
    <Section title="Fairness">
      {fairness.map((line) => (
        <FairnessOfLine key={line.line} fairness={line} isOnly={fairness.length === 1} />
      ))}
    </Section>
  )
}

function FairnessOfLine({ fairness, isOnly }: { fairness: Line; isOnly: boolean }) {
  const { line, draw, compared, rank_correlation, overtaking, before_turn, note } = fairness
  return (
    <>
      {!isOnly && <h3>Line {line}</h3>}
      {draw ? <Draw draw={draw} /> : <p>The draw is unknown.</p>}
      {note !== null && <p>{note}</p>}
      {overtaking && (
        <dl class="facts">
          <div>
            <dt>Orders compared</dt>
            <dd>{count(compared)}</dd>
          </div>
          <div>
            <dt>Rank correlation of position and first order</dt>
            <dd>{rank_correlation === null ? 'too few' : rank_correlation.toFixed(3)}</dd>
          </div>
          <div>
            <dt>Ordered after somebody behind them</dt>
            <dd>{count(overtaking.overtaken)}</dd>
          </div>
          <div>
            <dt>Worst overtaking</dt>
            <dd>
              {overtaking.overtaken === 0
                ? 'none'
                : `${lasting(overtaking.worst_seconds)}, ${count(overtaking.worst_positions)} ` +
                  `${overtaking.worst_positions === 1 ? 'position' : 'positions'}`}
            </dd>
          </div>
          <div class={before_turn !== null && before_turn > 0 ? 'wrong' : ''}>
            <dt>Ordered before they were called</dt>
            <dd>{before_turn === null ? 'unknown' : count(before_turn)}</dd>
          </div>
        </dl>
      )}
      {overtaking && (
        <p class="quiet">
          The correlation is 1 if people ordered just as they stood in line. People take their own time once they are
          called, so overtaking is no fault while it is shorter than the time for which a turn is kept.
        </p>
      )}
    </>
  )
}

function Draw({ draw }: { draw: NonNullable<Line['draw']> }) {
  const { commitment, seed, beacon, beacon_announced, drawn, holds, schedule_url, verify } = draw
  return (
    <>
      <p class={holds === false ? 'wrong' : ''}>
        {holds === null && 'The draw is not made yet.'}
        {holds === true &&
          `${drawn === 1 ? '1 number was' : `${count(drawn)} numbers were`} drawn. The seed is the one whose ` +
            'fingerprint was published.'}
        {holds === false && 'The seed does not fit the fingerprint that is published: this draw cannot be trusted.'}
        {beacon_announced &&
          beacon === null &&
          seed !== null &&
          ' A public beacon was announced, and none came in time.'}
      </p>
      <dl class="proof">
        <dt>Commitment</dt>
        <dd>
          <code>{commitment}</code>
        </dd>
        {seed !== null && <dt>Seed</dt>}
        {seed !== null && (
          <dd>
            <code>{seed}</code>
          </dd>
        )}
        {beacon !== null && <dt>Beacon</dt>}
        {beacon !== null && (
          <dd>
            <code>{beacon}</code>
          </dd>
        )}
        {schedule_url !== null && <dt>Schedule</dt>}
        {schedule_url !== null && (
          <dd>
            <a href={schedule_url}>{schedule_url}</a>
          </dd>
        )}
        <dt>To check a number</dt>
        <dd>
          <code>{verify}</code>
        </dd>
      </dl>
    </>
  )
}

/** Shows times under two minutes in seconds. */
const lasting = (seconds: number) => (seconds < 120 ? `${seconds.toFixed(1)} s` : clock('en', seconds))
