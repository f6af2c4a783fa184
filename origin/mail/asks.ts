/**
 * Messages that somebody asked for on a page of a sale, by mail or by push: one's turn and what comes of it, or a
 * restock. Each is sent once.
 */
import { hash } from 'node:crypto'
import type { MailAsk, PushAsk } from '../../shared/api/internal.ts'
import type { AskedMail } from '../jobs/queues.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { hasPaid, limited } from './recipient-limit.ts'

/** As `refused_mail` has an address. */
const hashOf = (email: string) => hash('sha256', email.toLowerCase())
/** The same in SQL. */
export const hashed = (sql: Queryable, email: unknown) =>
  sql`encode(sha256(convert_to(lower(${email as string}), 'utf8')), 'hex')`

/**
 * Asks of a visitor for an address and a sale; asked again, with the place and language of now. Another visitor who
 * leaves the same address asks for themselves. Of an address that wants none nothing is noted.
 */
export async function ask(sql: Sql, saleId: string, asked: MailAsk): Promise<void> {
  const { about, email, language, line, visitor, number } = asked
  await sql`
    insert into mail_asks (sale_id, line, about, next, email, language, visitor, number)
    select ${saleId}, ${line}, ${about}, ${firstOf(asked)}, ${email}, ${language}, ${visitor}, ${number}
    where not exists (select from refused_mail where email_hash = ${hashOf(email)})
    on conflict (sale_id, about, (coalesce(visitor, '')), lower(email)) do update set line = excluded.line, next = excluded.next,
      language = excluded.language, number = excluded.number, position = null`
}

/** Null: the turn has come, and only messages about orders follow. */
const firstOf = ({ about, number }: Pick<PushAsk, 'about' | 'number'>) =>
  about === 'restock' ? 'restocked' : number === null ? null : 'turn_near'

/** Browsers of one visitor that a sale pushes to. */
const MAX_BROWSERS = 5

/** The same by push: one ask for each browser and sale; beyond a visitor's limit the oldest ends. */
export async function askForPush(sql: Sql, saleId: string, asked: PushAsk): Promise<void> {
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
    await deleteAsks(tx, tooMany)
  })
}

/** A browser gets no more messages of the sale. */
export async function endPush(sql: Sql, saleId: string, endpoint: string): Promise<void> {
  await sql.begin(async (tx) => {
    const found = await tx<{ ask_id: string }[]>`
      select ask_id from mail_asks where sale_id = ${saleId} and push ->> 'endpoint' = ${endpoint}`
    await deleteAsks(tx, found)
  })
}

/** Deletes asks with their messages. Returns how many. */
export async function deleteAsks(tx: Queryable, asks: readonly { readonly ask_id: string }[]): Promise<number> {
  if (asks.length === 0) return 0
  const ids = asks.map(({ ask_id }) => ask_id)
  await tx`delete from jobs where queue = 'mail' and lane = any(${ids.flatMap((id) => [id, holdLane(id)])}::text[])`
  return (await tx`delete from mail_asks where ask_id = any(${ids}::uuid[])`).count
}

/** The message about the end of a hold waits in a lane of its own: others of its order do not wait for it. */
export const holdLane = (lane: string) => `${lane} hold`

/** The address of an order or an ask gets no mails any more but those about its orders. False: there is none. */
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

// -- Queueing
// ------------------------------------------------------------------------------------------------------------

/** Mails queued by one statement. */
const BATCH = 1_000

type Kind = AskedMail['kind']
interface Due {
  readonly ask_id: string
  readonly seconds?: number
}

/** An ask with its recipient, whose mails are limited. */
interface Asked {
  readonly ask_id: string
  readonly email: string | null
  readonly hasPaid: boolean
}
const asked = (sql: Queryable) =>
  sql`ask_id, lower(email) as email, ${hasPaid(sql, sql`mail_asks.email`, sql`mail_asks.visitor`)} as "hasPaid"`

/** Those of a line who wait for their turn. */
interface Waiting {
  readonly saleId: string
  readonly line: string
}

/** The condition of those who wait for their turn. */
export const waitsForTurn = (sql: Sql) => sql`next in ('turn_near', 'turn')`

export const waitingLines = (sql: Sql) => sql<Waiting[]>`
  select distinct sale_id as "saleId", line from mail_asks where ${waitsForTurn(sql)}`

/** Numbers whose position is not known yet. */
export const unplaced = (sql: Sql, { saleId, line }: Waiting) => sql<{ ask_id: string; number: number }[]>`
  select ask_id, number from mail_asks
  where sale_id = ${saleId} and line = ${line} and next = 'turn_near' and position is null limit ${BATCH}`

export const place = (sql: Sql, asks: readonly { readonly ask_id: string; readonly position: number }[]) => sql`
  update mail_asks a set position = p.position
  from unnest(${asks.map((one) => one.ask_id)}::uuid[], ${asks.map((one) => one.position)}::int[]) as p (ask_id, position)
  where a.ask_id = p.ask_id`

/** Whoever is told that their turn is near has at least so long. */
const NEAR_LEAST_SECONDS = 60

/** Queues the mails of up to a batch of those who are called by now. Returns how many. */
export async function queueTurns(tx: Queryable, waiting: Waiting, called: number, perAddress: number): Promise<number> {
  const due = await advance(tx, waiting, ['turn_near', 'turn'], called, null)
  await queue(tx, waiting.saleId, 'turn', await limited(tx, due, perAddress))
  return due.length
}

/** The same for those who will be called soon. */
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
  await queue(tx, waiting.saleId, 'turn_near', await limited(tx, told, perAddress))
  return due.length
}

const advance = (tx: Queryable, { saleId, line }: Waiting, from: readonly string[], upTo: number, then: Kind | null) =>
  tx<(Asked & { position: number })[]>`
    update mail_asks set next = ${then} where ask_id in (
      select ask_id from mail_asks
      where sale_id = ${saleId} and line = ${line} and next = any(${from as string[]}::text[]) and position <= ${upTo}
      limit ${BATCH} for no key update skip locked)
    returning ${asked(tx)}, position`

/** Nobody of a line is called any more: mails those who waited, or only forgets that they did. */
export async function endTurns(
  tx: Queryable,
  { saleId, line }: Waiting,
  kind: 'sold_out' | null,
  perAddress: number,
): Promise<number> {
  const due = await tx<Asked[]>`
    update mail_asks set next = null where ask_id in (
      select ask_id from mail_asks
      where sale_id = ${saleId} and line = ${line} and next in ('turn_near', 'turn') limit ${BATCH} for no key update skip locked)
    returning ${asked(tx)}`
  if (kind !== null) await queue(tx, saleId, kind, await limited(tx, due, perAddress))
  return due.length
}

/** All who asked for it, however many: a statement. There is one ask for each address, and it ends with this mail. */
export async function queueRestock(tx: Queryable, saleId: string): Promise<void> {
  const due = await tx<{ ask_id: string }[]>`
    update mail_asks set next = null where sale_id = ${saleId} and next = 'restocked' returning ask_id`
  await queue(tx, saleId, 'restocked', due)
}

/** Where the sale sends such mails. */
async function queue(tx: Queryable, saleId: string, kind: Kind, asks: readonly Due[]): Promise<void> {
  if (asks.length === 0) return
  await tx`
    insert into jobs (queue, lane, data)
    select 'mail', ask::text, jsonb_build_object('ask', ask, 'kind', ${kind}::text, 'seconds', seconds)
    from unnest(${asks.map((one) => one.ask_id)}::uuid[], ${asks.map((one) => one.seconds ?? null)}::int[]) as due (ask, seconds)
    where exists (select from sales where sale_id = ${saleId} and ${kind} = any(mails))`
}
