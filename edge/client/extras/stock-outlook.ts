/** About how many units are left of each product, and for how many visitors they are likely to last. */
import { count, fill } from '../../../shared/format.ts'
import { type OutlookTexts, outlookText } from '../../pages/parts/outlook-text.ts'
import { byId, each, show, textsOf, write } from '../page.ts'
import type { PageState } from './page-state.ts'

export function showOutlook({ schedule, page, place, atMs }: PageState): void {
  const outlook = byId('outlook')
  if (outlook && place) {
    const text = outlookText(textsOf('outlook') as OutlookTexts, page.lang, schedule, place, atMs)
    write(outlook, text)
    show(outlook, text !== '')
  }
  const { left = '', noneLeft, sizeLeft = '', gone } = textsOf('products')
  for (const { product_id, available } of schedule.products)
    each(`#products [data-product="${product_id}"]`, (product) => {
      const [some, none] = 'size' in product.dataset ? [sizeLeft, gone] : [left, noneLeft]
      product.toggleAttribute('data-none', available === 0)
      write(product, available > 0 ? fill(some, { n: count(page.lang, available) }) : none)
    })
}
