/** Converts the fields that every form of a turn has to the body of a checkout. */
import type { Address, AddressField } from '../../../shared/api/goods.ts'
import type { Fields } from '../../../shared/parse.ts'

/** The fields are in the order of the page. */
export const ADDRESS_FIELDS = [
  'country',
  'name',
  'company',
  'street',
  'line2',
  'postcode',
  'city',
  'region',
  'phone',
  'note',
] as const satisfies readonly AddressField[]

/** The part of a checkout in addition to what is bought. Empty fields are omitted. */
export function buyerIn(fields: Fields) {
  const { email, payment_method, accept, total_minor } = fields
  const codes = codesIn(fields)
  const delivery = addressIn(fields)
  return {
    ...(payment_method && { payment_method }),
    ...(email && { contact: { email } }),
    ...(codes.length > 0 && { promo_code: codes.length === 1 ? codes[0] : codes }),
    ...(Object.keys(delivery).length > 0 && { delivery }),
    ...(accept && { accept: ['terms'] }),
    ...(total_minor && { total_minor: Number(total_minor) }),
  }
}

/** The field may contain several codes. */
const codesIn = ({ promo_code = '' }: Fields) => promo_code.split(/[\s,;]+/).filter((code) => code !== '')

export function addressIn(fields: Fields): Address {
  const said = ADDRESS_FIELDS.map((field) => [field, fields[field]?.trim() ?? ''] as const)
  return Object.fromEntries(said.filter(([, text]) => text !== ''))
}
