/** The pictures of the goods: swiped on a phone, in a grid on a large screen. */
import type { Image } from '../../../shared/api/goods.ts'
import { type Html, html } from '../html.ts'
import { picture } from '../parts/picture.ts'
import type { PageContext, SaleView } from '../view.ts'

/** The grid shows one large picture and two rows of four. */
const MAX_PICTURES = 9
const LARGE = '(min-width: 60rem) 56vw, 92vw'
const SMALL = '(min-width: 60rem) 14vw, 92vw'

export function gallery({ view, words }: PageContext): Html | false {
  const pictures = picturesOf(view)
  if (pictures.length === 0) return false
  return html`<div class="gallery stay" tabindex="0" role="group" aria-label="${words.pictures}">${pictures.map(
    (one, i) =>
      html`<div class="pic ${
        i === 0 && 'goods-pic'
      }">${picture(one, { sizes: i === 0 ? LARGE : SMALL, eager: i === 0 })}</div>`,
  )}</div>`
}

/** A small picture of the goods, next to their name. */
export function thumbnail(view: SaleView): Html | false {
  const [first] = picturesOf(view)
  return (
    first !== undefined &&
    html`<div class="pic thumb goods-pic">${picture({ ...first, alt: '' }, { sizes: '56px', eager: true })}</div>`
  )
}

/** The sale's own picture first, followed by those of its products, each once. */
export function picturesOf({ goods, state }: Pick<SaleView, 'goods' | 'state'>): readonly Image[] {
  const hero = goods?.brand?.hero
  const ofProducts: readonly Image[] = Object.values(goods?.products ?? {}).flatMap(({ images = [] }) => images)
  const known = ofProducts.find(({ url }) => url === hero)
  const all =
    hero === undefined
      ? ofProducts
      : [known ?? { url: hero, alt: state.name, ...goods?.brand?.sizes?.hero }, ...ofProducts]
  return all.filter(({ url }, i) => all.findIndex((one) => one.url === url) === i).slice(0, MAX_PICTURES)
}
