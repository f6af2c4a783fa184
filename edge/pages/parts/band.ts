/**
 * The top of a page with a countdown: its purpose, the remaining time in large figures, and the comb that shows it.
 */
import { clock, fill } from '../../../shared/format.ts'
import { type Html, html, icon } from '../html.ts'
import type { PageContext } from '../view.ts'

interface Running {
  readonly title: string
  readonly text?: Html | string | false
  readonly seconds: number
  /** The total time in seconds. */
  readonly of: number
  /** The purpose of the countdown. */
  readonly label: string
  readonly id?: string
  /** True if something went wrong: the top then has another colour, and a sign. */
  readonly isBad?: boolean
}

/** If scripts are disabled, the page shows the time of day at which the countdown ends. */
export function band(
  { view, words, lang }: PageContext,
  { title, text, seconds, of, label, id, isBad }: Running,
): Html {
  const until = new Date(view.nowMs + seconds * 1000).toISOString()
  return html`<div class="band${isBad && ' bad'}"><div class="page time-left" ${id && html`id="${id}"`}>
    <div>${isBad && icon('warning')}<h1 tabindex="-1">${title}</h1>${text && html`<p>${text}</p>`}</div>
    <p><span class="sr label" data-over="${words.timeOver}">${label}</span>
    <noscript><b>${fill(words.until, { t: `${until.slice(11, 19)} UTC` })}</b></noscript>
    <time class="num" role="timer" datetime="${until}" data-over="look">${clock(lang, seconds)}</time></p>
    <progress max="${of}" value="${Math.min(of, seconds)}" class="comb" aria-hidden="true"></progress>
  </div></div>`
}

/** The visitor's current step of the purchase. */
export function steps({ words }: Pick<PageContext, 'words'>, at: 0 | 1 | 2): Html {
  const names = [words.stepChoose, words.stepPay, words.stepDone]
  return html`<ol class="row steps small quiet" aria-label="${words.steps}">${names.map(
    (name, i) => html`<li ${i === at && html`aria-current="step"`}>${name}</li>`,
  )}</ol>`
}
