/** Shows the queue, and how far the stock is likely to last. */
import { count, fill } from '../../../shared/format.ts'
import { endsOf, outlookOf, outlookText, wayOf } from '../../pages/line/outlook.ts'
import { byId, each, type PageState, show, textsOf, write } from '../page.ts'

/**
 * Draws the queue as a comb: the called visitors, those ahead, the visitor's own place, and the likely end of the
 * stock.
 */
export function showWay({ schedule, page, place }: PageState): void {
  if (!place || place.position === null || !byId('place')) return
  const { lasts_for_positions: lasts } = schedule
  const { served, own } = wayOf(place.now_serving, place.position, lasts)
  const set = (part: string, attributes: readonly string[], at: string) =>
    each(`.way ${part}`, (element) => {
      for (const name of attributes) element.setAttribute(name, at)
    })
  set('.served', ['width'], served)
  set('.ahead', ['width'], own)
  set('line', ['x1', 'x2'], own)
  set('circle', ['cx'], own)
  const ends = endsOf(place.now_serving, lasts)
  show(byId('lasts'), ends !== null)
  if (ends !== null) write(byId('lasts-to'), count(page.lang, ends))
}

/** Shows about how many units of each product are left, and for how many visitors they are likely to last. */
export function showOutlook({ schedule, page, place, atMs }: PageState): void {
  if (place) {
    const now = outlookOf(schedule, place, atMs)
    each('[data-outlook]', (part) => {
      const text = part.querySelector<HTMLElement>('p')
      show(part, part.dataset.outlook === now)
      write(text, outlookText(text?.dataset.text ?? '', page.lang, schedule, place))
    })
  }
  const { left = '', noneLeft, sizeLeft = '', gone } = textsOf('products')
  for (const { product_id, available } of schedule.products)
    each(`#products [data-product="${product_id}"]`, (product) => {
      const [some, none] = 'size' in product.dataset ? [sizeLeft, gone] : [left, noneLeft]
      product.toggleAttribute('data-none', available === 0)
      write(product, available > 0 ? fill(some, { n: count(page.lang, available) }) : none)
    })
}
