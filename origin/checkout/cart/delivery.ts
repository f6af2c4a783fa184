/** What a checkout must say of where an order goes, by the sale's `delivery`, and what of it is kept. Pure. */

import { addressFormOf, isPostcode } from '../../../shared/api/addresses.ts'
import type { Address, AddressField, Delivery } from '../../../shared/api/goods.ts'
import type { FieldError } from '../../../shared/problem.ts'

type Asked = 'off' | 'optional' | 'required'

/**
 * The fields that a sale asks for; those that it does not are no business of anybody's. A part that the country does
 * not write is kept if it is sent.
 */
function fieldsOf(
  { kind, ask }: Delivery,
  country: string | undefined,
): Readonly<Partial<Record<AddressField, Asked>>> {
  if (kind !== 'address') return ask
  const { required } = addressFormOf(country)
  const parts = (['name', 'street', 'line2', 'postcode', 'city', 'region'] as const).map(
    (part) => [part, required.has(part) ? 'required' : 'optional'] as const,
  )
  return { ...ask, ...Object.fromEntries(parts), country: 'required' }
}

export const asksForDelivery = ({ kind, ask }: Delivery): boolean =>
  kind === 'address' || Object.values(ask).some((asked) => asked !== 'off')

export interface Delivered {
  /** What is kept of it; undefined where nothing is. */
  readonly address?: Address
  readonly errors: readonly FieldError[]
}

/** All errors at once, by the paths of their fields. */
export function deliveryOf(delivery: Delivery, sent: Address = {}): Delivered {
  const { country, postcode } = sent
  const isAway = country !== undefined && !isServed(delivery, country)
  // The rules of a country to which nothing is sent do not matter.
  const there = isAway ? undefined : country
  const fields = Object.entries(fieldsOf(delivery, there)) as [AddressField, Asked][]
  const said = fields.filter(([field, asked]) => asked !== 'off' && sent[field])
  const missing = fields.filter(([field, asked]) => asked === 'required' && !sent[field])
  const errors = missing.map(([field]) => ({ field: `delivery.${field}`, detail: 'is required' }))
  const isWrong = delivery.kind === 'address' && there && postcode && !isPostcode(there, postcode)
  return {
    ...(said.length > 0 && { address: Object.fromEntries(said.map(([field]) => [field, sent[field]])) }),
    errors: [...errors, ...(isAway ? [UNSERVED] : []), ...(isWrong ? [wrongPostcode(there)] : [])],
  }
}

const wrongPostcode = (country: string): FieldError => ({
  field: 'delivery.postcode',
  detail: `is not a postcode of ${country}`,
})

export const UNSERVED: FieldError = { field: 'delivery.country', detail: 'it is not sent there' }

/** True if the sale sends something of at least one weight to the country. */
export const isServed = ({ kind, countries, prices }: Delivery, country: string): boolean =>
  kind !== 'address' ||
  ((countries?.includes(country) ?? true) && (prices?.some((one) => one.countries?.includes(country) ?? true) ?? true))
