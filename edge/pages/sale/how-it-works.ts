/** Explains a purchase in steps, each with a drawing: a place among all, the draw, the moving queue. */
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
    <ol class="how ${
      isBefore && 'three'
    }">${steps.map(([figure, name, text]) => html`<li>${figure}<h3>${name}</h3><p class="quiet">${text}</p></li>`)}</ol>
  </section>`
}

/** The time for which a turn waits for a visitor who closes the page. */
export const turnWaits = ({ view, words, lang }: PageContext) =>
  fill(words.turnWaits, { t: exactly(lang, view.claimSeconds) })

// -- The drawings ---------------------------------------------------------------------------------------------------

const drawing = (body: Html | readonly Html[]) =>
  html`<svg viewBox="0 0 296 116" preserveAspectRatio="xMinYMid meet" aria-hidden="true">${body}</svg>`
/**
 * The drawings are short, because every visitor loads them. A row of dots, or of a comb's teeth, is one dashed line.
 */
const line = (look: 'dots' | 'teeth' | 'way', d: string) => html`<path class="${look}" d="${d}"/>`
const dot = (x: number, y: number) => html`<circle cx="${x}" cy="${y}" r="8"/>`

const CROWD = drawing([
  html`<g class="others">${line('dots', [14, 42, 70, 98].map((y) => `M12 ${y}H277`).join(''))}</g>`,
  html`<g class="own">${dot(132, 70)}</g>`,
])

/** The positions of eight visitors after the draw; the sixth is the reader's. */
const DRAWN = [3, 0, 6, 1, 7, 2, 5, 4]
const OWN = 5
const at = (place: number) => 16 + 36.5 * place
const way = (to: number, from: number) => `M${at(from)} 14C${at(from)} 66 ${at(to)} 50 ${at(to)} 100`
const isOther = (_: unknown, from: number) => from !== OWN
const OTHERS = DRAWN.map((to, from) => ({ way: way(to, from), from: at(from), to: at(to) })).filter(isOther)
const MINE = DRAWN[OWN] ?? OWN
const DRAW = drawing([
  html`<g class="others">${line('way', OTHERS.map((one) => one.way).join(''))}
    ${line('dots', OTHERS.map(({ from, to }) => `M${from} 12h1M${to} 102h1`).join(''))}</g>`,
  html`<g class="own">${line('way', way(MINE, OWN))}${dot(at(OWN), 12)}${dot(at(MINE), 102)}</g>`,
])

const COMB = drawing([
  html`<g class="own">${line('teeth', 'M4 59H177')}<rect x="178" y="14" width="4" height="82"/><circle cx="180"
    cy="12" r="7"/></g>`,
  html`<g class="others">${line('teeth', 'M186.7 59H290')}</g>`,
])
