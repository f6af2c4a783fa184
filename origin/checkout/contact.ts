/** How a buyer can be reached, as far as the sale wishes to know it. */
import { isIP } from 'node:net'
import type { Context } from 'hono'
import { LANGUAGES } from '../../shared/api/fields.ts'
import { EDGE_ADDRESS_HEADER, EDGE_LANGUAGE_HEADER } from '../../shared/api/internal.ts'
import type { CheckoutRequest } from '../../shared/api/public.ts'
import { preferred } from '../../shared/format.ts'
import { invalidField } from '../../shared/problem.ts'
import type { Contact } from '../ledger/record.ts'
import { headerOf, refuse } from '../lib/request.ts'
import type { SaleRow } from '../sales/sale-row.ts'

export const keepsContact = ({ contact }: Pick<SaleRow, 'contact'>) => contact.email !== 'off' || contact.address

/** Throws if the sale requires an address that is missing. Fields that the sale does not keep are ignored. */
export function contactOf(
  c: Context,
  { contact: wish }: Pick<SaleRow, 'contact'>,
  request: CheckoutRequest,
  isEdge: (c: Context) => boolean,
): Contact | undefined {
  const email = wish.email === 'off' ? null : (request.contact?.email ?? null)
  if (wish.email === 'required' && email === null)
    refuse(invalidField('contact.email', 'an e-mail address is required'))
  const sent = wish.address && isEdge(c) ? headerOf(c, EDGE_ADDRESS_HEADER) : undefined
  const address = sent !== undefined && isIP(sent) ? sent : null
  if (email === null && address === null) return undefined
  const accepted = headerOf(c, EDGE_LANGUAGE_HEADER) ?? headerOf(c, 'accept-language') ?? ''
  return { email, address, language: preferred(LANGUAGES, accepted) ?? 'en' }
}
