/** Shows about how many units of each product are left, and for how many visitors they are likely to last. */
import { count, fill } from '../../../shared/format.ts'
import { outlookOf, outlookText } from '../../pages/line/outlook-text.ts'
import { each, show, textsOf, write } from '../page.ts'
import type { PageState } from './page-state.ts'

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
