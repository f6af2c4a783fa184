/** How a buyer can be reached, as far as the sale wishes to know it. */
import { isIP } from 'node:net'
import type { Context } from 'hono'
import { LANGUAGES } from '../../../shared/api/fields.ts'
import { EDGE_ADDRESS_HEADER, EDGE_LANGUAGE_HEADER } from '../../../shared/api/internal.ts'
import type { CheckoutRequest } from '../../../shared/api/public.ts'
import { preferredLanguage } from '../../../shared/format.ts'
import type { FieldError } from '../../../shared/problem.ts'
import type { Contact } from '../../ledger/record.ts'
import type { SaleRow } from '../../ledger/sale-row.ts'
import { headerOf } from '../../lib/http/request.ts'
import { asksForDelivery, deliveryOf } from './delivery.ts'

type Asking = Pick<SaleRow, 'contact' | 'delivery'>

export const keepsContact = ({ contact, delivery }: Asking) =>
  contact.email !== 'off' || contact.address || asksForDelivery(delivery)

/**
 * With the errors of what the sale requires and is missing or wrong. Fields that the sale does not keep are ignored.
 */
export function contactOf(
  c: Context,
  { contact: wish, delivery }: Asking,
  request: CheckoutRequest,
  isEdge: (c: Context) => boolean,
): { readonly contact?: Contact; readonly errors: readonly FieldError[] } {
  const email = wish.email === 'off' ? null : (request.contact?.email ?? null)
  const { address: goesTo, errors: wrong } = deliveryOf(delivery, request.delivery)
  const isMissing = wish.email === 'required' && email === null
  const errors = isMissing ? [{ field: 'contact.email', detail: 'an e-mail address is required' }, ...wrong] : wrong
  const sent = wish.address && isEdge(c) ? headerOf(c, EDGE_ADDRESS_HEADER) : undefined
  const address = sent !== undefined && isIP(sent) ? sent : null
  if (email === null && address === null && !goesTo) return { errors }
  // A caller that names no language reads English.
  const accepted = headerOf(c, EDGE_LANGUAGE_HEADER) ?? headerOf(c, 'accept-language') ?? ''
  const language = preferredLanguage(LANGUAGES, accepted) ?? 'en'
  return { contact: { email, ...(goesTo && { delivery: goesTo }), address, language }, errors }
}
