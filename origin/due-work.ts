/**
 * What of the background work has something to do, asked by one statement: each asked by itself wakes a connection
 * and a server process.
 */
import { isBlockOver } from './box-office/seat-changes.ts'
import { isReaderBehind } from './events/reader.ts'
import { isAnyJobDue } from './jobs/job-queries.ts'
import type { Sql } from './ledger/connection.ts'
import { isHoldOverdue } from './ledger/order-statements.ts'
import { FREE } from './ledger/payment-statements.ts'
import { waitsForTurn } from './mail/mail-requests.ts'
import { isActionOverdue, isPaymentToBegin } from './payments/payment-queries.ts'

export type Work = 'jobs' | 'overdue holds' | 'payments' | 'overdue actions' | 'overdue blocks' | 'turn mails'

/** The names of the work, in which each of the readers of the events is one of its own. */
export async function dueWork<Reader extends string>(sql: Sql, readers: readonly Reader[]) {
  const rows = await sql<{ work: Reader | Work }[]>`
    select n.reader as work from unnest(${[...readers]}::text[]) as n (reader) left join readers r using (reader)
    where ${isReaderBehind(sql)}
    union all select 'jobs' where ${isAnyJobDue(sql, ['', FREE])}
    union all select 'overdue holds' where exists (select from orders where ${isHoldOverdue(sql)})
    union all select 'payments' where exists (select from orders where ${isPaymentToBegin(sql)})
    union all select 'overdue actions' where exists (select from orders where ${isActionOverdue(sql)})
    union all select 'overdue blocks' where exists (select from seat_claims where ${isBlockOver(sql)})
    union all select 'turn mails' where exists (select from mail_asks where ${waitsForTurn(sql)})`
  return rows.map(({ work }) => work)
}
