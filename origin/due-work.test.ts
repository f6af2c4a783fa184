/** What the ledger says is to be done, and that it says so no longer once it is done. */
import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { reservationOf, saleOf } from '../test/lib/samples.ts'
import { useLedger } from '../test/lib/servers.ts'
import { dueWork } from './due-work.ts'
import { readEvents } from './events/reader.ts'
import { addJobs } from './jobs/job-queries.ts'
import { FREE } from './ledger/payment-statements.ts'
import { record } from './ledger/record.ts'
import { writeSale } from './sales/sale-queries.ts'

const sql = await useLedger()
const due = (...readers: string[]) => dueWork(sql, readers).then((work) => work.sort())

beforeEach(async () => {
  await sql`truncate sales, orders, events, readers, mail_asks, jobs, webhook_endpoints cascade`
})

test('names the readers for which there are events, new ones too', async () => {
  expect(await due('one', 'two')).toEqual([])
  await sql`insert into events (xid, type) values (event_xid(), 'a')`
  // Transactions of other databases on this server are older than an event too: the tests of other files.
  await expect.poll(() => due('one', 'two')).toEqual(['one', 'two'])
  await readEvents(sql, 'one', async () => {})
  expect(await due('one', 'two')).toEqual(['two'])
})

test('names overdue holds, payments that nobody began, and buyers who did not come back', async () => {
  await writeSale(sql, 'sale', saleOf(9))
  const reservations = ['overdue', 'unpaid', 'away', 'held'].map((visitor) => ({ ...reservationOf('sale'), visitor }))
  await record(sql, 'sale', reservations, false)
  expect(await due()).toEqual([])
  const late = sql`now() - interval '1 minute'`
  await sql`update orders set reserved_until = ${late} where visitor = 'overdue'`
  expect(await due()).toEqual(['overdue holds'])
  await sql`update orders set payment_method = 'card', created_at = ${late} where visitor = 'unpaid'`
  expect(await due()).toEqual(['overdue holds', 'payments'])
  await sql`
    update orders set status = 'paying', payment_method = 'card', action = '{}', action_until = ${late}
      where visitor = 'away'`
  expect(await due()).toEqual(['overdue actions', 'overdue holds', 'payments'])
  await sql`update orders set status = 'cancelled', action = null, action_until = null`
  expect(await due()).toEqual([])
})

test('names jobs whose time has come, of endpoints that are not paused too', async () => {
  const endpoint = randomUUID()
  await addJobs(sql, 'charge', [{ data: { order: 'later' }, runAt: new Date(Date.now() + 3_600_000) }])
  expect(await due()).toEqual([])
  await addJobs(sql, 'charge', [{ data: { order: 'now' }, group: FREE }])
  expect(await due()).toEqual(['jobs'])
  await sql`delete from jobs`
  await addJobs(sql, 'webhook', [{ data: { message: 'm', type: 't', body: '{}' }, group: endpoint }])
  expect(await due()).toEqual([])
  await sql`insert into webhook_endpoints (endpoint_id, url, events, sealed_secrets) values (${endpoint}, 'http://x', '{*}', '[]')`
  expect(await due()).toEqual(['jobs'])
  await sql`update webhook_endpoints set state = 'paused'`
  expect(await due()).toEqual([])
})

test('names the mails of those whose turn comes, and not of those who wait for a restock', async () => {
  await writeSale(sql, 'sale', saleOf(9))
  const ask = (about: string, next: string) => sql`
    insert into mail_asks (sale_id, line, about, next, email, language)
    values ('sale', 'public', ${about}, ${next}, ${`${randomUUID()}@example.com`}, 'en')`
  await ask('restock', 'restocked')
  expect(await due()).toEqual([])
  await ask('turn', 'turn_near')
  expect(await due()).toEqual(['turn mails'])
})
