/** The elements below the search field. */
import { element } from '../page.ts'

type Child = Node | string

export const link = (href: string, ...content: Child[]) => element('a', { href }, ...content)

export const paragraph = (...content: Child[]) => element('p', { class: 'small' }, ...content)

export function button(label: string, sign: Node, act: () => void): HTMLButtonElement {
  const made = element('button', { type: 'button', class: 'icon-button', 'aria-label': label }, sign)
  made.addEventListener('click', act)
  return made
}

const SVG = 'http://www.w3.org/2000/svg'

/** An icon of 24 by 24 units, like the icons of the pages. */
export function cross(): SVGElement {
  const sign = document.createElementNS(SVG, 'svg')
  const path = document.createElementNS(SVG, 'path')
  path.setAttribute('d', 'm6.5 6.5 11 11m0-11-11 11')
  sign.append(path)
  for (const [name, value] of Object.entries({ class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true' }))
    sign.setAttribute(name, value)
  return sign
}
