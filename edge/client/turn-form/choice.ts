/** Converts the choice in a turn's form to priced lines, and calculates their total. Pure. */
import type { Totals } from '../../../shared/api/public.ts'
import { billOf, type PricedLine } from '../../../shared/bill.ts'
import type { Offer } from '../../pages/turn/checkout-fields.ts'

/**
 * The values of the form by field name. `prices` are the prices of seats, which the map knows, by the name of their
 * field.
 */
export interface Said {
  readonly fields: Readonly<Record<string, string>>
  readonly prices: Readonly<Record<string, number>>
}

/** `hasMore` is true if the shop picks some seats, whose price is known only after the reservation. */
export interface Choice {
  readonly lines: readonly PricedLine[]
  readonly hasMore: boolean
}

export function choiceIn({ fields, prices }: Said, { units }: Offer): Choice {
  const lineOf = (product: string, quantity: number, price?: number): PricedLine[] => {
    const unit = units.find(({ product_id }) => product_id === product)
    if (!unit || !(quantity >= 1)) return []
    const { variant_of = null, weight_grams = null } = unit
    return [{ product, quantity, variant_of, weight_grams, unit_price_minor: price ?? unit.unit_price_minor }]
  }
  const ofProduct = fields.product_id ? lineOf(fields.product_id, Number(fields.quantity ?? 1)) : []
  const others = Object.entries(fields).flatMap(([name, value]) => {
    const [kind, id = ''] = name.split(':')
    if (kind === 'seat') return lineOf(id, 1, prices[name])
    return kind === 'units' || kind === 'places' ? lineOf(id, Number(value)) : []
  })
  return { lines: [...ofProduct, ...others], hasMore: Number(fields['best-quantity']) > 0 }
}

/**
 * `away` means that the order cannot be sent to that country, or is too heavy for it. `from` is a lower limit,
 * because part of the price is not known yet.
 */
export type Sum =
  | { readonly kind: 'none' }
  | { readonly kind: 'away' }
  | { readonly kind: 'from' | 'exact'; readonly totals: Totals }

export function sumOf({ lines, hasMore }: Choice, { terms, currency }: Offer, country: string): Sum {
  if (lines.length === 0 && !hasMore) return { kind: 'none' }
  const { delivery } = terms
  const isOpen = delivery.kind === 'address' && country === '' && dependsOnCountry(delivery)
  const known = isOpen ? { ...terms, delivery: { ...delivery, kind: 'none' as const } } : terms
  const bill = billOf(lines, known, { country: country || undefined, currency })
  if (!bill) return { kind: 'away' }
  return { kind: isOpen || hasMore ? 'from' : 'exact', totals: bill.totals }
}

const dependsOnCountry = ({ prices }: Offer['terms']['delivery']) => prices?.some(({ countries }) => countries) ?? false
