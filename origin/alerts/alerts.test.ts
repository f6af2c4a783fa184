/** What opens reaches people by each channel, once, by its severity, and quietly when it repeats. */
import { pino } from 'pino'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { serveOnLoopback } from '../../dev/lib/loopback.ts'
import { eventually } from '../../test/lib/eventually.ts'
import { saleOf } from '../../test/lib/samples.ts'
import { useLedger } from '../../test/lib/servers.ts'
import { startSmtp } from '../../test/stand-ins/smtp.ts'
import { close, type FindingKind, NO_SALE, note } from '../findings/finding-queries.ts'
import { JobRunner } from '../jobs/job-runner.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { ALERT_READER, readAlerts, readErrors, readLevels, writeLevels } from './alert-queries.ts'
import { AlertSender } from './alert-sender.ts'
import { AlertChannels } from './channels.ts'

const sql = await useLedger()
const smtp = await startSmtp()
const posts: { path: string; body: string }[] = []
let status = 202
const http = await serveOnLoopback(async (request, response) => {
  const body = (await request.toArray()).join('')
  posts.push({ path: request.url ?? '', body })
  response.writeHead(status).end('said')
})
const channels = new AlertChannels({
  SMTP_URL: smtp.url,
  MAIL_FROM: 'Shop <shop@example.com>',
  ALERT_MAIL_TO: ['ada@example.com', 'ben@example.com'],
  ALERT_SLACK_URL: `${http.url}/slack`,
  ALERT_PAGERDUTY_KEY: 'k'.repeat(32),
  ALERT_PAGERDUTY_URL: `${http.url}/pagerduty`,
  isDevelopment: true,
})
const log = pino({ level: 'silent' })
const runner = new JobRunner({ sql, log }, [new AlertSender({ channels, log })])
const ended: string[] = []
const around = {
  sql,
  channels,
  nowMs: () => Date.now(),
  onSaleEnded: async (_: unknown, sale: string) => ended.push(sale),
}

afterAll(async () => {
  channels.close()
  http.stop()
  await smtp.stop()
})
beforeEach(async () => {
  await sql`truncate jobs, events, readers, findings, alert_channels`
  posts.length = 0
  smtp.mails.length = 0
  status = 202
})

/** Reads the events, and sends what they make. */
async function tell() {
  // Transactions of other tests hold events back, as those of other processes do.
  const unread = async () => {
    await readAlerts(around)
    return sql`
      select from events e left join readers r on r.reader = ${ALERT_READER}
      where e.type in ('finding.opened', 'sale.ended') and (r.reader is null or (e.xid, e.seq) > (r.xid, r.seq))`
  }
  await eventually(unread, ({ length }) => length === 0)
  await sql`update jobs set run_at = now() where state = 'pending'`
  await runner.round()
  await runner.drain()
  return { mails: smtp.mails.flatMap(({ to }) => to), paths: posts.map(({ path }) => path).sort() }
}
const find = (kind: FindingKind, sale = NO_SALE) =>
  note(sql, { sale, product: '', kind, subject: 'a', units: 0, detail: { error: '503 no' } })

test('what is urgent reaches all channels, and what can wait wakes nobody', async () => {
  await writeSale(sql, 'drop', saleOf(5, { name: 'Friday drop' }))
  await find('oversold', 'drop')
  expect(await tell()).toEqual({
    mails: ['ada@example.com', 'ben@example.com'],
    paths: ['/pagerduty', '/slack'],
  })
  expect(smtp.mails[0]?.raw).toContain('Act now: Oversold, Friday drop')
  const toPagerDuty = JSON.parse(posts.find(({ path }) => path === '/pagerduty')?.body ?? '{}')
  expect(toPagerDuty).toMatchObject({ routing_key: 'k'.repeat(32), payload: { severity: 'critical' } })
  posts.length = 0
  await find('webhook_failed')
  expect((await tell()).paths).toEqual(['/slack'])
  expect(posts[0]?.body).toContain('It answers 503: its server fails')
  // A finding is told once.
  posts.length = 0
  expect((await tell()).paths).toEqual([])
})

test('a finding that opens again is told again only after half an hour, with how often it opened', async () => {
  await find('drift')
  await tell()
  await close(sql, NO_SALE, '', 'drift', 'healed')
  posts.length = 0
  await find('drift')
  expect((await tell()).paths).toEqual([])
  await close(sql, NO_SALE, '', 'drift', 'healed')
  await sql`update findings set last_seen_at = last_seen_at - interval '31 minutes'`
  await find('drift')
  expect((await tell()).paths).toEqual(['/slack'])
  expect(posts[0]?.body).toContain('3 times')
})

test('an owner decides what a channel hears of, and nobody is told of what opened long ago', async () => {
  expect(await readLevels(sql)).toEqual({ mail: 'warn', slack: 'warn', pagerduty: 'page' })
  await writeLevels(sql, { slack: 'off', mail: 'page', pagerduty: 'warn' }, 'olga')
  expect(await readLevels(sql)).toEqual({ mail: 'page', slack: 'off', pagerduty: 'warn' })
  const [entry] = await sql`select actor, before, after from audit_log where action = 'alerts changed'`
  expect(entry).toMatchObject({ actor: 'olga', before: { slack: 'warn' }, after: { slack: 'off' } })
  await find('drift')
  expect(await tell()).toEqual({ mails: [], paths: ['/pagerduty'] })
  posts.length = 0
  await find('oversold')
  await sql`update events set at = at - interval '2 hours'`
  expect((await tell()).paths).toEqual([])
})

test('what a channel does not take is tried again, and its error is shown', async () => {
  status = 500
  await find('drift')
  await tell()
  expect(await readErrors(sql)).toEqual(new Map([['slack', '500 said']]))
  status = 200
  await tell()
  expect(posts.map(({ path }) => path)).toEqual(['/slack', '/slack'])
  expect(await sql`select from jobs`).toEqual([])
})

test('a sale that has ended is passed on once', async () => {
  await sql`insert into events (xid, type, sale_id)
    values (event_xid(), 'sale.ended', 'drop'), (event_xid(), 'sale.paused', 'other')`
  await tell()
  await tell()
  expect(ended).toEqual(['drop'])
})
