/**
 * Limits the mails to an address. Anybody can enter somebody else's address, so an address is limited until the
 * visitor who entered it has paid an order with it.
 */
import type { Queryable } from '../ledger/connection.ts'

/** Mails count for this long. */
const HOURS = 1

interface Recipient {
  /** The address in lower case; null if the message goes to a browser. */
  readonly email: string | null
  /** True if the message's visitor has paid an order with this address. */
  readonly hasPaid: boolean
}

/** An SQL expression that is true if this visitor has paid an order with this address. */
export const hasPaid = (sql: Queryable, email: unknown, visitor: unknown) => sql`exists (
  select from contacts paid join orders po using (order_id)
  where lower(paid.email) = lower(${email as string})
    and po.visitor = ${visitor as string} and po.charge_id is not null)`

/**
 * Selects the messages to send: at most `most` per hour for each address, and all of them for a confirmed address.
 */
export async function limitMessages<T extends Recipient>(
  tx: Queryable,
  messages: readonly T[],
  most: number,
): Promise<T[]> {
  const emails = new Set(messages.flatMap(({ email, hasPaid }) => (email === null || hasPaid ? [] : [email])))
  return withinLimit(messages, emails.size === 0 ? new Map() : await sentTo(tx, [...emails]), most)
}

/** Selects the messages to send, given the number already sent to each address. Pure. */
export function withinLimit<T extends Recipient>(
  messages: readonly T[],
  sent: ReadonlyMap<string, number>,
  most: number,
): T[] {
  const counts = new Map(sent)
  return messages.filter(({ email, hasPaid }) => {
    if (email === null || hasPaid) return true
    const before = counts.get(email) ?? 0
    counts.set(email, before + 1)
    return before < most
  })
}

async function sentTo(tx: Queryable, emails: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await tx<{ email: string; sent: number }[]>`
    select e.email, count(*)::int as sent from unnest(${emails as string[]}::text[]) as e(email)
    cross join lateral (
      select order_id::text as lane from contacts where lower(contacts.email) = e.email union all
      select ask_id::text from mail_asks where lower(mail_asks.email) = e.email) one
    -- Mails about the end of a hold have a lane of their own (see holdLane).
    join jobs j on j.lane in (one.lane, one.lane || ' hold')
    where j.queue = 'mail' and j.created_at > clock_timestamp() - ${HOURS} * interval '1 hour'
    group by e.email`
  return new Map(rows.map(({ email, sent }) => [email, sent]))
}
