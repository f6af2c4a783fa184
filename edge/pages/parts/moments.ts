/** Times of the schedule as countdowns or dates. */
import { PHASES, type Phase, type Schedule } from '../../../shared/api/public.ts'
import { clock, moment } from '../../../shared/format.ts'
import { RecentMap } from '../../../shared/lib/recent-map.ts'
import { type Html, hidden, html } from '../html.ts'
import type { PageContext } from '../view.ts'

/** The times of a schedule that a page shows. Dates show the published times; countdowns use the edge's times. */
export type ScheduleMoment = 'opens_at' | 'ends_at' | 'pre_queue_opens_at' | Countdown
type Countdown = 'pre_queue_opens_at_ms' | 'anchor_at_ms'

const DAY_SECONDS = 86_400
/** Each date is formatted once, because sales and languages are few. */
const MAX_DATES = 1_000
const dates = new RecentMap<string, Html>(MAX_DATES)

/** Counts down to one of the schedule's times by script, above its date. Without a script only the date is shown. */
export function countdown(context: PageContext, to: Countdown): Html {
  const { view, words, lang } = context
  const { schedule } = view
  const untilMs = to === 'anchor_at_ms' ? schedule.anchor_at_ms : schedule.pre_queue_opens_at_ms
  const [label, name, at] =
    to === 'anchor_at_ms'
      ? ([words.opensIn, words.opensAt, 'opens_at'] as const)
      : ([words.lobbyOpensIn, words.lobbyOpensAt, 'pre_queue_opens_at'] as const)
  const left = Math.max(0, (untilMs - view.nowMs) / 1000)
  return html`<div class="count">
      <p class="quiet label" data-over="${words.opening}">${label}</p>
      <time class="num" role="timer" datetime="${new Date(untilMs).toISOString()}" data-at="${to}" ${
        left >= DAY_SECONDS && html`data-days`
      }>${clock(lang, left)}</time>
      <progress class="comb" max="60" value="${Math.ceil(left) % 60}" data-seconds aria-hidden="true"></progress>
      <p class="small quiet">${name} <b>${dateAt(context, at)}</b></p>
      ${at !== 'opens_at' && html`<p class="small quiet">${words.opensAt} <b>${dateAt(context, 'opens_at')}</b></p>`}
    </div>`
}

/** The server writes the time in UTC, and the script changes it to the visitor's time zone. */
export function dateAt({ view, lang }: PageContext, at: 'opens_at' | 'ends_at' | 'pre_queue_opens_at'): Html {
  const said = view.schedule[at] ?? 0
  return dates.getOrAdd(`${at} ${said} ${lang}`, () => {
    const date = new Date(said)
    return html`<time datetime="${date.toISOString()}" data-moment
      data-at="${at}">${moment(lang, date.getTime(), 'UTC')}</time>`
  })
}

/** Any other time in the same form. */
export const timeAt = (lang: string, at: string): Html =>
  html`<time datetime="${at}" data-moment>${moment(lang, Date.parse(at), 'UTC')}</time>`

/** The label is "Opens", and after the opening "Opened". */
export const opens = ({ view: { schedule }, words }: PageContext) => [
  during(schedule, BEFORE, words.opensAt, 'span'),
  during(schedule, AFTER, words.openedAt, 'span'),
]

// -- Parts of a page that are visible only in some phases of the sale ------------------------------------------------

export const BEFORE: readonly Phase[] = ['upcoming', 'pre_queue']
export const DURING: readonly Phase[] = ['open', 'paused', 'all_in_carts']
const AFTER = PHASES.filter((phase) => !BEFORE.includes(phase))

/** A part that the page shows only in these phases of the sale. */
export const during = (schedule: Schedule, phases: readonly Phase[], body: Html | string, tag = 'div') =>
  html`<${tag} data-phases="${phases.join(' ')}" ${hidden(!phases.includes(schedule.phase))}>${body}</${tag}>`
