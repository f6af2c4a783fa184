/** How one comes to buy, in steps, each with a drawing: a place among all, the draw, the line that moves. */
import { exactly, fill } from '../../../shared/format.ts'
import { type Html, html } from '../html.ts'
import type { PageContext } from '../view.ts'

export function howItWorks(context: PageContext, isBefore: boolean): Html {
  const { view, words, lang } = context
  const hold = { t: exactly(lang, view.state.hold_seconds) }
  const turn = [COMB, words.stepTurn, view.protects ? words.stepSiteText : fill(words.stepTurnText, hold)] as const
  const steps: readonly (readonly [Html, string, string])[] = isBefore
    ? [[CROWD, words.stepLobby, words.stepLobbyText], [DRAW, words.stepDraw, words.stepDrawText], turn]
    : [[CROWD, words.stepLine, `${words.stepLineText} ${turnWaits(context)}`], turn]
  const id = isBefore ? 'how-draw' : 'how-line'
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${words.howItWorks}</h2>
    <ol class="how">${steps.map(([figure, name, text]) => html`<li>${figure}<h3>${name}</h3><p class="quiet">${text}</p></li>`)}</ol>
  </section>`
}

/** How long a turn waits for someone who closes the page. */
export const turnWaits = ({ view, words, lang }: PageContext) =>
  fill(words.turnWaits, { t: exactly(lang, view.claimSeconds) })

// -- The drawings ------------------------------------------------------------------------------------------------------

const drawing = (body: Html | readonly Html[]) =>
  html`<svg viewBox="0 0 296 116" preserveAspectRatio="xMinYMid meet" aria-hidden="true">${body}</svg>`
const range = (many: number) => Array.from({ length: many }, (_, i) => i)
const dot = (x: number, y: number, r: number) => html`<circle cx="${x}" cy="${y}" r="${r}"/>`

const CROWD = drawing([
  html`<g class="others">${range(48).map((i) => dot(12 + 24 * (i % 12), 14 + 28 * Math.floor(i / 12), 5))}</g>`,
  html`<g class="own">${dot(132, 70, 8)}</g>`,
])

/** Where each of eight comes to stand; the sixth is one's own. */
const DRAWN = [3, 0, 6, 1, 7, 2, 5, 4]
const OWN = 5
const at = (place: number) => 16 + 36.5 * place
const way = (from: number) => {
  const to = DRAWN[from] ?? from
  return html`<path d="M${at(from)} 14C${at(from)} 66 ${at(to)} 50 ${at(to)} 100"/>`
}
const ends = (from: number, r: number) => html`${dot(at(from), 12, r)}${dot(at(DRAWN[from] ?? from), 102, r)}`
const DRAW = drawing([
  html`<g class="others">${range(8).map((i) => i !== OWN && html`${way(i)}${ends(i, 5)}`)}</g>`,
  html`<g class="own">${way(OWN)}${ends(OWN, 8)}</g>`,
])

const teeth = (from: number, to: number) =>
  range(to - from).map((i) => html`<rect x="${(4 + 6.3 * (from + i)).toFixed(1)}" y="36" width="2.4" height="46"/>`)
const COMB = drawing([
  html`<g class="own">${teeth(0, 28)}<rect x="178" y="14" width="4" height="82"/>${dot(180, 12, 7)}</g>`,
  html`<g class="others">${teeth(29, 46)}</g>`,
])
