/** Parts of a page that are visible only in some phases of the sale. */
import { PHASES, type Phase, type Schedule } from '../../../shared/api/public.ts'
import { type Html, hidden, html } from '../html.ts'

export const BEFORE: readonly Phase[] = ['upcoming', 'pre_queue']
export const DURING: readonly Phase[] = ['open', 'paused', 'all_in_carts']
export const AFTER = PHASES.filter((phase) => !BEFORE.includes(phase))

/** A part that the page shows only in these phases of the sale. */
export const during = (schedule: Schedule, phases: readonly Phase[], body: Html | string, tag = 'div') =>
  html`<${tag} data-phases="${phases.join(' ')}" ${hidden(!phases.includes(schedule.phase))}>${body}</${tag}>`
