/** The plan with its buttons, and the legend below it. */
import { element, type Texts } from './parts.ts'

/** What the buttons do. */
interface Moves {
  readonly closer: () => void
  readonly farther: () => void
  readonly fit: () => void
}

export function planOf(canvas: HTMLCanvasElement, mini: SVGElement, texts: Texts, moves: Moves): HTMLElement {
  const button = (label: string | undefined, sign: string, act: () => void) => {
    const made = element('button', { type: 'button', class: 'icon-button', 'aria-label': label ?? '' }, sign)
    made.addEventListener('click', act)
    return made
  }
  const zoom = element(
    'div',
    { class: 'hall-zoom' },
    button(texts.zoomIn, '+', moves.closer),
    button(texts.zoomOut, '−', moves.farther),
    button(texts.whole, '⤢', moves.fit),
  )
  return element('div', { class: 'hall-plan', dir: 'ltr' }, canvas, mini, zoom)
}

export function legendOf(texts: Texts): HTMLElement {
  const entry = (kind: string, text: string | undefined) =>
    element('li', {}, element('i', { class: `dot ${kind}` }), text ?? '')
  return element(
    'ul',
    { class: 'row legend small quiet' },
    entry('mine', texts.yours),
    entry('c1', texts.free),
    entry('taken', texts.occupied),
    entry('square', texts.wheelchair),
  )
}
