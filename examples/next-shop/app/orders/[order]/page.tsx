/** A buyer's order in this shop, at an address that the buyer alone knows. */
import { notFound } from 'next/navigation'
import { saleUrl } from '../../../lib/flash-sale.ts'
import { findOrder } from '../../../lib/shop-orders.ts'

export default async function Order({ params }: { readonly params: Promise<{ readonly order: string }> }) {
  const { order } = await params
  const { sale, payment, parcel } = findOrder(order) ?? notFound()
  const isOver = payment === 'given back' || parcel !== null
  return (
    <main>
      <h1>{payment === 'given back' ? 'You get your money back' : parcel ? 'On its way' : 'Thank you'}</h1>
      {parcel && <p>Your parcel is {parcel}.</p>}
      {!isOver && <meta httpEquiv="refresh" content="1" />}
      <a href={`${saleUrl(sale)}/order/${order}`}>Your order in the sale</a>
    </main>
  )
}
