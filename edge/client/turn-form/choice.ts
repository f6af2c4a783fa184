/** Calculates the total of a choice in a turn's form. Pure. */
import type { Totals } from '../../../shared/api/public.ts'
import { billOf } from '../../../shared/bill.ts'
import type { Choice } from '../../pages/turn/cart/priced-lines.ts'
import type { Offer } from '../../pages/turn/checkout-fields.ts'

/**
 * `away` means that the order cannot be sent to that country, or is too heavy for it. `from` is a lower limit,
 * because part of the price is not known yet.
 */
export type Sum =
  | { readonly kind: 'none' }
  | { readonly kind: 'away' }
  | { readonly kind: 'from' | 'exact'; readonly totals: Totals }

export function sumOf({ lines }: Choice, { terms, currency }: Offer, country: string): Sum {
  if (lines.length === 0) return { kind: 'none' }
  const { delivery } = terms
  const isOpen = delivery.kind === 'address' && country === '' && dependsOnCountry(delivery)
  const known = isOpen ? { ...terms, delivery: { ...delivery, kind: 'none' as const } } : terms
  const bill = billOf(lines, known, { country: country || undefined, currency })
  if (!bill) return { kind: 'away' }
  return { kind: isOpen ? 'from' : 'exact', totals: bill.totals }
}

const dependsOnCountry = ({ prices }: Offer['terms']['delivery']) => prices?.some(({ countries }) => countries) ?? false
