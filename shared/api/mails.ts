/** The mails of a sale, each of which it may switch off or on. Push messages are the same ones. */
import * as v from 'valibot'

export const MAILS = [
  // These are sent to visitors who requested them on a page of the sale.
  'turn_near',
  'turn',
  'sold_out',
  'restocked',
  // These are sent to buyers who left an address with their order.
  'hold_ends',
  'hold_ended',
  'confirmed',
  'declined',
  // The order was not paid at the bank in time, was refused after it was accepted, or exceeded the stock.
  'cancelled',
  'refunded',
  'sent',
] as const
export type MailKind = (typeof MAILS)[number]

/**
 * Reminders of unpaid orders are off unless a sale switches them on, because the law may require consent for them.
 */
const REMINDERS: readonly MailKind[] = ['hold_ends', 'hold_ended']
export const DEFAULT_MAILS: readonly MailKind[] = MAILS.filter((kind) => !REMINDERS.includes(kind))

export const Mails = v.pipe(
  v.array(v.picklist(MAILS, `one of ${MAILS.join(', ')} is required`), 'a list is required'),
  v.check((kinds) => new Set(kinds).size === kinds.length, 'each once'),
)

// -- Push -----------------------------------------------------------------------------------------------------------

const base64url = (bytes: number) =>
  v.pipe(
    v.string('text is required'),
    v.regex(/^[\w-]*$/, 'base64url is required'),
    v.length(Math.ceil((bytes * 4) / 3), `${bytes} bytes are required`),
  )

/**
 * The address of a browser, as the browser itself reports it (W3C Push API), with the keys that encrypt messages to
 * it (RFC 8291, 2).
 */
export const PushSubscription = v.object({
  endpoint: v.pipe(
    v.string('text is required'),
    v.maxLength(2_000, 'at most 2000 characters'),
    // The URL must not contain a user name.
    v.regex(/^https:\/\/[\w.:[\]-]+(\/[\x21-\x7e]*)?$/, 'an https URL is required'),
  ),
  keys: v.object({
    /** The public key of the browser, an uncompressed point of P-256. */
    p256dh: base64url(65),
    auth: base64url(16),
  }),
})
export type PushSubscription = v.InferOutput<typeof PushSubscription>

/** A subscription that ends. */
export const EndedPush = v.pick(PushSubscription, ['endpoint'])

/**
 * The offer of push messages, if push is set up: the key with which browsers subscribe (RFC 8292, 3.2), and the
 * messages that the sale sends.
 */
export const PushOffer = v.object({ key: v.string(), kinds: v.array(v.string()) })
