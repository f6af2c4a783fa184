/**
 * Messages that visitors requested on a page of a sale, by mail or by push: about their turn and its result, or about
 * a restock. Each is sent once.
 */
import { hash } from 'node:crypto'
import type { MailRequest, PushRequest } from '../../shared/api/internal.ts'
import type { AskedMail } from '../jobs/queues.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { hasPaid, limitMessages } from './recipient-limit.ts'

/** `refused_mail` stores addresses in this form. */
const hashOf = (email: string) => hash('sha256', email.toLowerCase())
/** The same in SQL. */
export const emailHash = (sql: Queryable, email: unknown) =>
  sql`encode(sha256(convert_to(lower(${email as string}), 'utf8')), 'hex')`

/**
 * Stores a visitor's request for messages to an address about a sale. A repeated request takes the current place and
 * language. If another visitor leaves the same address, that is a separate request. Nothing is stored for an address
 * that refuses mails.
 */
export async function storeMailRequest(sql: Sql, saleId: string, asked: MailRequest): Promise<void> {
  const { about, email, language, line, visitor, number } = asked
  await sql`
    insert into mail_asks (sale_id, line, about, next, email, language, visitor, number)
    select ${saleId}, ${line}, ${about}, ${firstOf(asked)}, ${email}, ${language}, ${visitor}, ${number}
    where not exists (select from refused_mail where email_hash = ${hashOf(email)})
    on conflict (sale_id, about, (coalesce(visitor, '')), lower(email)) do update
      set line = excluded.line, next = excluded.next,
      language = excluded.language, number = excluded.number, position = null`
}

/** Null means that the turn has come, and only messages about orders follow. */
const firstOf = ({ about, number }: Pick<PushRequest, 'about' | 'number'>) =>
  about === 'restock' ? 'restocked' : number === null ? null : 'turn_near'

/** A sale sends push messages to at most this many browsers of one visitor. */
const MAX_BROWSERS = 5

/**
 * Stores a request for push messages, one for each browser and sale. Beyond a visitor's limit the oldest request
 * ends.
 */
export async function storePushRequest(sql: Sql, saleId: string, asked: PushRequest): Promise<void> {
  const { about, push, language, line, visitor, number } = asked
  await sql.begin(async (tx) => {
    await tx`
      insert into mail_asks (sale_id, line, about, next, push, language, visitor, number)
      values (${saleId}, ${line}, ${about}, ${firstOf(asked)}, ${tx.json(push)}, ${language}, ${visitor}, ${number})
      on conflict (sale_id, (push ->> 'endpoint')) do update set line = excluded.line, about = excluded.about,
        next = excluded.next, push = excluded.push, language = excluded.language, visitor = excluded.visitor,
        number = excluded.number, position = null, created_at = excluded.created_at`
    const tooMany = await tx<{ ask_id: string }[]>`
      select ask_id from mail_asks where sale_id = ${saleId} and visitor = ${visitor} and push is not null
      order by created_at desc, ask_id offset ${MAX_BROWSERS}`
    await deleteRequests(tx, tooMany)
  })
}

/** Ends all messages of the sale to a browser. */
export async function endPush(sql: Sql, saleId: string, endpoint: string): Promise<void> {
  await sql.begin(async (tx) => {
    const found = await tx<{ ask_id: string }[]>`
      select ask_id from mail_asks where sale_id = ${saleId} and push ->> 'endpoint' = ${endpoint}`
    await deleteRequests(tx, found)
  })
}

/** Deletes requests with their messages, and returns their number. */
export async function deleteRequests(tx: Queryable, asks: readonly { readonly ask_id: string }[]): Promise<number> {
  if (asks.length === 0) return 0
  const ids = asks.map(({ ask_id }) => ask_id)
  await tx`delete from jobs where queue = 'mail' and lane = any(${ids.flatMap((id) => [id, holdLane(id)])}::text[])`
  return (await tx`delete from mail_asks where ask_id = any(${ids}::uuid[])`).count
}

/**
 * The message about the end of a hold has a lane of its own, so that other messages of its order do not wait for it.
 */
export const holdLane = (lane: string) => `${lane} hold`

/**
 * Ends all mails to the address of an order or a request, except those about its orders. Returns false if the id is
 * unknown.
 */
export async function refuseMail(sql: Sql, id: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    const found = await tx<{ email: string }[]>`
      select email from mail_asks where ask_id = ${id} and email is not null union all
      select email from contacts where order_id = ${id} and email is not null`
    for (const { email } of found) {
      await tx`insert into refused_mail (email_hash) values (${hashOf(email)}) on conflict do nothing`
      await tx`delete from mail_asks where lower(email) = ${email.toLowerCase()}`
    }
    return found.length > 0
  })
}

// -- Queueing -------------------------------------------------------------------------------------------------------

/** One statement queues at most this many mails. */
const BATCH = 1_000

type Kind = AskedMail['kind']
interface Due {
  readonly ask_id: string
  readonly seconds?: number
}

/** A request with its recipient, whose mails are limited. */
interface Asked {
  readonly ask_id: string
  readonly email: string | null
  readonly hasPaid: boolean
}
const asked = (sql: Queryable) =>
  sql`ask_id, lower(email) as email, ${hasPaid(sql, sql`mail_asks.email`, sql`mail_asks.visitor`)} as "hasPaid"`

/** The visitors of a line who wait for their turn. */
interface Waiting {
  readonly saleId: string
  readonly line: string
}

/** An SQL condition that selects the visitors who wait for their turn. */
export const waitsForTurn = (sql: Sql) => sql`next in ('turn_near', 'turn')`

export const waitingLines = (sql: Sql) => sql<Waiting[]>`
  select distinct sale_id as "saleId", line from mail_asks where ${waitsForTurn(sql)}`

/** The numbers whose position is not known yet. */
export const requestsWithoutPosition = (sql: Sql, { saleId, line }: Waiting) => sql<
  { ask_id: string; number: number }[]
>`
  select ask_id, number from mail_asks
  where sale_id = ${saleId} and line = ${line} and next = 'turn_near' and position is null limit ${BATCH}`

export const place = (sql: Sql, asks: readonly { readonly ask_id: string; readonly position: number }[]) => sql`
  update mail_asks a set position = p.position
  from unnest(${asks.map((one) => one.ask_id)}::uuid[],
    ${asks.map((one) => one.position)}::int[]) as p (ask_id, position)
  where a.ask_id = p.ask_id`

/** A message that a turn is near is sent at least this long before the turn. */
const NEAR_LEAST_SECONDS = 60

/** Queues the mails of up to a batch of visitors who have been called. Returns their number. */
export async function queueTurns(tx: Queryable, waiting: Waiting, called: number, perAddress: number): Promise<number> {
  const due = await advance(tx, waiting, ['turn_near', 'turn'], called, null)
  await queue(tx, waiting.saleId, 'turn', await limitMessages(tx, due, perAddress))
  return due.length
}

/** Queues the mails of visitors who will be called soon. */
export async function queueNear(
  tx: Queryable,
  waiting: Waiting,
  near: number,
  secondsTo: (position: number) => number,
  perAddress: number,
): Promise<number> {
  const due = await advance(tx, waiting, ['turn_near'], near, 'turn')
  const told = due
    .map((one) => ({ ...one, seconds: secondsTo(one.position) }))
    .filter(({ seconds }) => seconds >= NEAR_LEAST_SECONDS)
  await queue(tx, waiting.saleId, 'turn_near', await limitMessages(tx, told, perAddress))
  return due.length
}

const advance = (tx: Queryable, { saleId, line }: Waiting, from: readonly string[], upTo: number, then: Kind | null) =>
  tx<(Asked & { position: number })[]>`
    update mail_asks set next = ${then} where ask_id in (
      select ask_id from mail_asks
      where sale_id = ${saleId} and line = ${line} and next = any(${from as string[]}::text[]) and position <= ${upTo}
      limit ${BATCH} for no key update skip locked)
    returning ${asked(tx)}, position`

/**
 * Ends the waiting of a line in which nobody is called any more: mails the waiting visitors, or only deletes their
 * requests.
 */
export async function endTurns(
  tx: Queryable,
  { saleId, line }: Waiting,
  kind: 'sold_out' | null,
  perAddress: number,
): Promise<number> {
  const due = await tx<Asked[]>`
    update mail_asks set next = null where ask_id in (
      select ask_id from mail_asks
      where sale_id = ${saleId} and line = ${line} and next in ('turn_near', 'turn')
        limit ${BATCH} for no key update skip locked)
    returning ${asked(tx)}`
  if (kind !== null) await queue(tx, saleId, kind, await limitMessages(tx, due, perAddress))
  return due.length
}

/**
 * Queues a mail for every visitor who requested one about a restock, in one statement. Each address has one such
 * request, which ends with this mail.
 */
export async function queueRestock(tx: Queryable, saleId: string): Promise<void> {
  const due = await tx<{ ask_id: string }[]>`
    update mail_asks set next = null where sale_id = ${saleId} and next = 'restocked' returning ask_id`
  await queue(tx, saleId, 'restocked', due)
}

/** Queues the mails if the sale sends such mails. */
async function queue(tx: Queryable, saleId: string, kind: Kind, asks: readonly Due[]): Promise<void> {
  if (asks.length === 0) return
  await tx`
    insert into jobs (queue, lane, data)
    select 'mail', ask::text, jsonb_build_object('ask', ask, 'kind', ${kind}::text, 'seconds', seconds)
    from unnest(${asks.map((one) => one.ask_id)}::uuid[],
      ${asks.map((one) => one.seconds ?? null)}::int[]) as due (ask, seconds)
    where exists (select from sales where sale_id = ${saleId} and ${kind} = any(mails))`
}
