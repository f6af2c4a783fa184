/** The catalogue. Each product leads to its sale, which is the waiting room before this shop's checkout. */
import { edge, saleUrl, setting } from '../lib/flash-sale.ts'
import { Products } from './products.tsx'

export const dynamic = 'force-dynamic'

export default async function Catalogue() {
  const sales = await Promise.all(
    setting('SALES')
      .split(' ')
      .map((sale) => edge.sale(sale)),
  )
  return (
    <main>
      <h1>Catalogue</h1>
      {sales.map(({ sale, name, products }) => (
        <section key={sale}>
          <h2>{name}</h2>
          <Products products={products} schedule={`${saleUrl(sale)}/schedule`} />
          <a href={saleUrl(sale)}>Buy {name}</a>
        </section>
      ))}
    </main>
  )
}
