/** The refused visitors, by reason and by the rule that decided. */
import { Link } from 'wouter-preact'
import { count } from '../../parts.tsx'
import { byReason, type Live, totals } from './live-stream.ts'

export function Refusals({ live }: { live: Live }) {
  const all = totals(live)
  const groups = [
    ['At checkout', byReason(all, 'refused.')],
    ['At joining', byReason(all, 'join_refused.')],
    ['By rule', live.rules.filter(({ met }) => met > 0).map(({ note, action, met }) => [nameOf(note, action), met])],
  ] as const
  const shown = groups.filter(([, reasons]) => reasons.length > 0)
  return (
    <section class="card" aria-label="Refusals">
      <h2>Who was refused</h2>
      {shown.length === 0 && <p class="quiet">Nobody yet.</p>}
      {shown.map(([title, reasons]) => (
        <div key={title}>
          <h3>{title}</h3>
          <ul class="reasons">
            {reasons.map(([reason, many], i) => (
              <li key={i}>
                <span>{String(reason).replaceAll('-', ' ')}</span> <b>{count(Number(many))}</b>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <p>
        <Link href={`/console/sales/${live.state.sale}/access`}>Rules and blocks</Link>
        {live.rules.length > 0 && <span class="quiet"> {count(live.rules.length)} in force</span>}
      </p>
    </section>
  )
}

const nameOf = (note: string, action: string) => (note === '' ? action : `${note} (${action})`)
