/** A small map for visitors who have zoomed in: the sections, with a frame around the visible part. */
import type { Box, Hall } from '../../../shared/hall/hall-model.ts'

const SVG = 'http://www.w3.org/2000/svg'

export class MiniMap {
  readonly element = svgElement('svg', { class: 'hall-mini', 'aria-hidden': 'true' })
  readonly #frame = svgElement('rect', { rx: '2%' })
  readonly #bounds: Box

  constructor({ sections, bounds }: Pick<Hall, 'sections' | 'bounds'>) {
    const { x0, y0, x1, y1 } = bounds
    this.#bounds = bounds
    this.element.setAttribute('viewBox', `${x0} ${y0} ${x1 - x0} ${y1 - y0}`)
    const outlines = sections.map(({ outline }) => svgElement('polygon', { points: outline.map(String).join(' ') }))
    this.element.append(...outlines, this.#frame)
    this.show(bounds)
  }

  /** Shows the visible part of the hall. If that is the whole hall, the small map is hidden. */
  show(seen: Box): void {
    const { x0, y0, x1, y1 } = this.#bounds
    const [left, top] = [Math.max(x0, seen.x0), Math.max(y0, seen.y0)]
    const [width, height] = [Math.min(x1, seen.x1) - left, Math.min(y1, seen.y1) - top]
    const isAll = width >= x1 - x0 && height >= y1 - y0
    this.element.toggleAttribute('hidden', isAll || width <= 0 || height <= 0)
    for (const [name, value] of Object.entries({ x: left, y: top, width, height }))
      this.#frame.setAttribute(name, String(Math.max(0, value)))
  }
}

function svgElement<Tag extends keyof SVGElementTagNameMap>(tag: Tag, attributes: Readonly<Record<string, string>>) {
  const element = document.createElementNS(SVG, tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  return element
}
