/** The shop's checkout: the `return_url` of a sale with `"payment": "handover"`. */
import { redirect } from 'next/navigation'
import { confirm, readHold, saleUrl } from '../../../lib/flash-sale.ts'
import { authorize, capture, giveBack } from '../../../lib/shop-orders.ts'
import { money } from '../../money.ts'

interface Props {
  readonly params: Promise<{ readonly sale: string }>
  readonly searchParams: Promise<{ readonly order?: string }>
}

async function pay(sale: string, token: string) {
  'use server'
  const hold = (await readHold(sale, token)) ?? redirect(saleUrl(sale))
  const reference = authorize(hold)
  if (await confirm(hold, reference)) capture(hold.sub)
  else giveBack(hold.sub)
  redirect(`/orders/${hold.sub}`)
}

export default async function Checkout({ params, searchParams }: Props) {
  const [{ sale }, { order = '' }] = await Promise.all([params, searchParams])
  const hold = (await readHold(sale, order)) ?? redirect(saleUrl(sale))
  return (
    <main>
      <h1>Pay {money(hold.total_minor, hold.currency)}</h1>
      <p>{hold.lines.map(({ product_id, quantity }) => `${quantity} × ${product_id}`).join(', ')}</p>
      <p>Held for you until {hold.reserved_until}.</p>
      <form action={pay.bind(null, sale, order)}>
        <button type="submit">Pay now</button>
      </form>
    </main>
  )
}
