/**
 * Shows the open problems and the health of each part. The origin decides them, and with them every colour of the
 * page.
 */
import type { HealthSummary } from '../../../../../shared/api/operators/live.ts'
import { time } from '../../parts.tsx'

/** The problems, the worst first, each with a link. */
export function Needs({ needs }: Pick<HealthSummary, 'needs'>) {
  if (needs.length === 0) return null
  return (
    <ul class="needs" aria-label="What needs you">
      {needs.map(({ part, level, what, since, advice, place }, i) => (
        <li key={`${part} ${i}`} class={`is-${level}`}>
          <p>
            <b>{what}</b> <time datetime={since}>Since {time(since)}.</time> {advice}
          </p>
          <a class="button" href={place.href}>
            {place.text}
          </a>
        </li>
      ))}
    </ul>
  )
}

const RANK = { bad: 0, watch: 1, unknown: 2, good: 3 } as const

export function Parts({ parts }: Pick<HealthSummary, 'parts'>) {
  const well = parts.filter(({ level }) => level === 'good').length
  return (
    <section class="card" id="parts" aria-label="Parts">
      <h2>
        {well} of {parts.length} parts are well
      </h2>
      <ul class="parts">
        {parts
          .toSorted((a, b) => RANK[a.level] - RANK[b.level])
          .map(({ name, level, text }) => (
            <li key={name} class={`is-${level}`}>
              <b>{name}</b> <span>{text}</span>
            </li>
          ))}
      </ul>
    </section>
  )
}
