/**
 * The goods of a sale, with the content of its pages and the costs of its orders. A preview shows a page as a visitor
 * will see it.
 */
import './goods.css'
import { type Body, isSection, newProduct } from '../sale-form/draft.ts'
import { useForm } from '../sale-form/fields.tsx'
import { Brand, PlaceAndDate } from './brand.tsx'
import { LivePreview } from './live-preview.tsx'
import { Delivery, FeesAndTax } from './money.tsx'
import { Product } from './product.tsx'

export function Goods() {
  const { body, wrong, set } = useForm()
  const products = (body.products ?? []) as readonly Body[]
  const first = products.findIndex((product) => !isSection(product))
  return (
    <>
      <div>
        {products.map((product, i) =>
          isSection(product) ? null : <Product key={i} i={i} isOpen={i === first || product.name === ''} />,
        )}
        {wrong.has('products') && <small class="wrong">{wrong.get('products')}</small>}
        <p>
          <button type="button" onClick={() => set('products', [...products, newProduct(products)])}>
            Add a product
          </button>
        </p>
        <Brand />
        <PlaceAndDate />
        <FeesAndTax />
        <Delivery />
      </div>
      <LivePreview />
    </>
  )
}
