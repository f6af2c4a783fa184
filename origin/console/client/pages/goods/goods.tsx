/**
 * The goods of a sale as rows, one of them open, with the costs of its orders and its look. The bill follows what is
 * typed, and a phone beside it shows a page as a visitor will see it.
 */
import './goods.css'
import { Icon } from '../../sheet/icon.tsx'
import { SECTIONS } from '../sale-form/changes/field-words.ts'
import { type Body, isSection, newProduct } from '../sale-form/draft.ts'
import { useForm } from '../sale-form/fields/form.tsx'
import { BillSection } from './bill-section.tsx'
import { BrandSection, PlaceSection } from './brand.tsx'
import { Product } from './product.tsx'

export function Goods() {
  const { body, wrong, set } = useForm()
  const products = (body.products ?? []) as readonly Body[]
  const first = products.findIndex((product) => !isSection(product))
  return (
    <div class="main">
      <div id="products">
        <h2 class="unseen">Products</h2>
        {products.map((product, i) =>
          isSection(product) ? null : <Product key={i} i={i} isFirst={i === first || product.name === ''} />,
        )}
      </div>
      <div class="sec">
        {wrong.has('products') && <p class="note is-bad">{wrong.get('products')}</p>}
        <p>
          <button type="button" class="btn" onClick={() => set('products', [...products, newProduct(products)])}>
            <Icon name="plus" />
            Add a product
          </button>
        </p>
      </div>
      <BillSection />
      <BrandSection />
      <PlaceSection />
    </div>
  )
}

/** Links to the parts of the page. */
export const GoodsIndex = () => (
  <nav class="seg wide" aria-label="On this page">
    {SECTIONS.goods.map(([id, title]) => (
      <a key={id} href={`#${id}`}>
        {title}
      </a>
    ))}
  </nav>
)
