/** The limits of a cart: how many units each line may have, beside the others, and which limit binds. Pure. */
import type { PublicProduct } from '../../../../shared/api/public.ts'
import type { Fields } from '../../../../shared/parse.ts'
import { seatsIn } from '../cart-fields.ts'

/** What one person may have of the product, what all products may have together, or what is left. */
export type Limit = 'each' | 'together' | 'stock'
export interface Bound {
  readonly quantity: number
  readonly most: number
  readonly limit: Limit
}

type Limited = Pick<PublicProduct, 'product_id' | 'variant_of' | 'limit' | 'available'>

/** The bound of each field of a number, by the field's name. A size that is not chosen has none. */
export function boundsOf(fields: Fields, units: readonly Limited[], perVisitor: number): ReadonlyMap<string, Bound> {
  const rows = Object.entries(fields).flatMap(([name, typed]) => {
    const [kind, id, row] = name.split(':')
    const product = kind === 'count' ? fields[`size:${id}:${row}`] : kind === 'units' || kind === 'places' ? id : ''
    const unit = units.find(({ product_id }) => product_id === product)
    return unit ? [{ name, unit, quantity: wholeOf(typed.trim() || (kind === 'count' ? '1' : '0')) }] : []
  })
  const seats = seatsIn(fields).length + wholeOf(fields['best-quantity'] ?? '')
  const unitsOf = (counts: (unit: Limited) => boolean) =>
    rows.reduce((sum, { unit, quantity }) => (counts(unit) ? sum + quantity : sum), 0)
  const all = seats + unitsOf(() => true)
  return new Map(
    rows.map(({ name, unit, quantity }) => {
      const most: Readonly<Record<Limit, number>> = {
        each: (unit.limit ?? Infinity) - unitsOf((other) => familyOf(other) === familyOf(unit)) + quantity,
        together: perVisitor - all + quantity,
        stock: unit.available - unitsOf(({ product_id }) => product_id === unit.product_id) + quantity,
      }
      const limit = LIMITS.reduce((least, one) => (most[one] < most[least] ? one : least))
      return [name, { quantity, limit, most: Math.max(0, most[limit]) }]
    }),
  )
}

/** The first of equal limits is told. */
const LIMITS = ['each', 'together', 'stock'] as const satisfies readonly Limit[]

const familyOf = ({ product_id, variant_of }: Limited) => variant_of ?? product_id
const wholeOf = (typed: string) => Math.max(0, Math.floor(Number(typed) || 0))
