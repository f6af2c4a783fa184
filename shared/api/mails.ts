/** The mails of a sale, each of which it may switch off or on; by push the same ones. */
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
  // Not paid in time at the bank, refused after it was taken on, or one too many.
  'cancelled',
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

// -- Push ----------------------------------------------------------------------------------------------------------------

const base64url = (bytes: number) =>
  v.pipe(
    v.string('text is required'),
    v.regex(/^[\w-]*$/, 'base64url is required'),
    v.length(Math.ceil((bytes * 4) / 3), `${bytes} bytes are required`),
  )

/** Where a browser can be reached, as it says itself (W3C Push API), with the keys that encrypt for it (RFC 8291, 2). */
export const PushSubscription = v.object({
  endpoint: v.pipe(
    v.string('text is required'),
    v.maxLength(2_000, 'at most 2000 characters'),
    // Without a user's name.
    v.regex(/^https:\/\/[\w.:[\]-]+(\/[\x21-\x7e]*)?$/, 'an https URL is required'),
  ),
  keys: v.object({
    /** Its public key, a point of P-256, uncompressed. */
    p256dh: base64url(65),
    auth: base64url(16),
  }),
})
export type PushSubscription = v.InferOutput<typeof PushSubscription>

/** A subscription that ends. */
export const EndedPush = v.pick(PushSubscription, ['endpoint'])

/** Where push is set up: the key that browsers subscribe with (RFC 8292, 3.2), and the messages that the sale sends. */
export const PushOffer = v.object({ key: v.string(), kinds: v.array(v.string()) })
