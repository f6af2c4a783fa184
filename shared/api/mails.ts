/** The mails of a sale, each of which it may switch off or on. */
import * as v from 'valibot'

export const MAILS = [
  // To those who asked for it on a page of the sale.
  'turn_near',
  'turn',
  'sold_out',
  'restocked',
  // To those who left an address with their order.
  'hold_ends',
  'hold_ended',
  'confirmed',
  'declined',
  'refunded',
  'sent',
] as const
export type MailKind = (typeof MAILS)[number]

/** Off unless a sale switches them on: reminders of what was not paid, which law may want consent for. */
const REMINDERS: readonly MailKind[] = ['hold_ends', 'hold_ended']
export const DEFAULT_MAILS: readonly MailKind[] = MAILS.filter((kind) => !REMINDERS.includes(kind))

export const Mails = v.pipe(
  v.array(v.picklist(MAILS, `one of ${MAILS.join(', ')} is required`), 'a list is required'),
  v.check((kinds) => new Set(kinds).size === kinds.length, 'each once'),
)
