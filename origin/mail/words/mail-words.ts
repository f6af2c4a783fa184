/** The texts of the mails, of which each language has a file. */
import type { MailedReason } from '../../../shared/api/order-status.ts'

export interface MailWords {
  /** Each kind of mail has a subject and a text that says what happened. `{sale}` is the sale's name. */
  readonly confirmed: readonly [subject: string, text: string]
  readonly declined: readonly [subject: string, text: string]
  /**
   * The subject of a mail about an order that ended for a reason of the shop or the bank. The text says why, and what
   * the buyer can do.
   */
  readonly cancelled: string
  readonly cancelledFor: Readonly<Record<MailedReason, string>>
  readonly refunded: readonly [subject: string, text: string]
  readonly refundedInPart: readonly [subject: string, text: string]
  readonly holdEnds: readonly [subject: string, text: string]
  readonly holdEnded: readonly [subject: string, text: string]
  readonly sent: readonly [subject: string, text: string]
  /** `{t}` is the time until the turn. */
  readonly turnNear: readonly [subject: string, text: string]
  readonly turn: readonly [subject: string, text: string]
  readonly soldOut: readonly [subject: string, text: string]
  readonly restocked: readonly [subject: string, text: string]
  readonly toLine: string
  readonly toSale: string
  /** The link that ends all mails except those about the recipient's own orders. */
  readonly stop: string
  readonly whyAsked: string
  readonly product: string
  /** One seat, or places of a section. */
  readonly ticket: string
  readonly row: string
  readonly seat: string
  /** `{code}` is the promo code. */
  readonly discount: string
  readonly shipping: string
  /** A fee or a tax, `{name}`, that is included in the prices. */
  readonly included: string
  readonly total: string
  /** The sum that was refunded until now, if there are several refunds. */
  readonly refundedSoFar: string
  readonly order: string
  readonly show: string
  /** The delivery of the order, written before the lines of the address; `{where}` is the shop's own text. */
  readonly sentTo: string
  readonly pickUp: string
  readonly pickUpLater: string
  readonly handover: string
  /** The time and place of the event or the pickup, and the link that adds them to a calendar. */
  readonly date: string
  readonly venue: string
  readonly calendar: string
  readonly why: string
}
