/** The report's first sentence: how the sale ended, whether its draw holds, and what is open. Pure. */
import { clock } from '../../../../../shared/format.ts'
import { count } from '../../format.ts'
import type { Report } from './read-report.ts'

type Judged = Pick<Report, 'phase' | 'fairness' | 'incidents'> & {
  readonly figures: Pick<Report['figures'], 'sold_out_at' | 'ended_at' | 'duration_seconds' | 'units'>
}

interface Verdict {
  readonly level: 'good' | 'watch' | 'bad' | 'info'
  readonly text: string
}

export function verdictOf({ phase, figures, fairness, incidents }: Judged): Verdict {
  const isBroken = fairness.some(({ draw }) => draw?.holds === false)
  const isUnfair = fairness.some(({ before_turn }) => before_turn !== null && before_turn > 0)
  const isProven = fairness.length > 0 && fairness.every(({ draw }) => draw?.holds === true && draw.drawn > 0)
  const open = incidents.filter(({ kind, until }) => kind === 'finding' && until === null).length
  const isOpen = open === 0 ? 'Nothing is open.' : `${open === 1 ? 'One finding is' : `${open} findings are`} open.`
  const order = isBroken
    ? ', and the draw cannot be trusted'
    : isUnfair
      ? ', and somebody ordered before their turn'
      : isProven
        ? ', in the order of the draw'
        : ''
  const level = isBroken ? 'bad' : isUnfair || open > 0 ? 'watch' : isOver(phase) ? 'good' : 'info'
  return { level, text: `${endOf(phase, figures)}${order}. ${isOpen}` }
}

const isOver = (phase: string) => phase === 'sold_out' || phase === 'ended'

function endOf(phase: string, { sold_out_at, duration_seconds, units }: Judged['figures']): string {
  // The minutes say when the last unit was sold, so that shorter times are about.
  if (sold_out_at !== null) return `Sold out in about ${clock('en', duration_seconds)}`
  const sold = `${count(units.sold)} of ${count(units.total)} sold`
  if (phase === 'upcoming') return 'Not opened yet'
  return isOver(phase) ? `Over, with ${sold}` : `Not over yet: ${sold}`
}

/** What went wrong, in a sentence for the verdict. */
export function wrongText({ incidents }: Pick<Report, 'incidents'>): string {
  const many = incidents.filter(({ kind }) => kind === 'finding').length
  return many === 0 ? 'Nothing was found wrong.' : `${many === 1 ? 'One thing' : `${many} things`} went wrong.`
}
