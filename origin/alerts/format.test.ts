import { expect, test } from 'vitest'
import { findingAlert, type OpenedFinding, reportAlert } from './alert.ts'
import { mailOf, pagerDutyOf, slackOf } from './format.ts'

const AT = '2026-11-27T12:02:40.000Z'
const finding: OpenedFinding = {
  finding: '7',
  sale: 'aurora-one',
  product_id: 'red',
  kind: 'oversold',
  subject: null,
  units: 2,
  detail: null,
}
const around = {
  at: AT,
  saleName: 'Aurora <One> & more',
  times: 3,
  consoleUrl: 'https://ops.example',
  reasonOf: (error: string) => `reason of ${error}`,
}
const alert = findingAlert(finding, around)

test('what oversells wakes somebody, and what no buyer notices does not', () => {
  expect(alert).toMatchObject({ severity: 'page', key: 'finding:oversold:aurora-one:red:' })
  const ofWebhook = { ...finding, kind: 'webhook_failed', sale: null, product_id: null, units: 0 }
  const failed = { ...ofWebhook, subject: 'e1', detail: { endpoint: 'e1', error: '503 no' } }
  const webhook = findingAlert(failed, { ...around, saleName: null, times: 1, consoleUrl: null })
  expect(webhook).toMatchObject({ severity: 'warn', title: 'Webhook failed', link: null })
  expect(webhook.facts).toEqual([['Why', 'reason of 503 no']])
})

test('a mail has its severity first, what to do, all facts, and no markup of a name', () => {
  const { subject, text, html } = mailOf(alert)
  expect(subject).toBe('Act now: Oversold, Aurora <One> & more')
  expect(text).toContain('Sale: Aurora <One> & more (aurora-one)\nProduct: red\nUnits: 2\nWithin a day: 3 times\n')
  expect(text).toContain('https://ops.example/console/sales/aurora-one')
  expect(html).toContain('Aurora &lt;One&gt; &amp; more')
  expect(html).not.toContain('<One>')
  expect(mailOf({ ...alert, title: 'a\r\nBcc: x@y.example' }).subject).toBe('Act now: a Bcc: x@y.example')
})

test('Slack gets a colour, fields and a link, and nothing of a name is markup', () => {
  const message = slackOf(alert)
  expect(message).toMatchObject({
    text: 'Act now: Oversold, Aurora &lt;One&gt; &amp; more',
    attachments: [{ color: '#b3261e', blocks: [{ type: 'section', fields: expect.any(Array) }, { type: 'context' }] }],
  })
  expect(JSON.stringify(message)).not.toContain('<One>')
  expect(JSON.stringify(message)).toContain('<https://ops.example/console/sales/aurora-one|Open it in the console>')
  expect(slackOf({ ...alert, facts: [] })).not.toHaveProperty('attachments[0].blocks[0].fields')
})

test('PagerDuty gets one event for one fault, by its severity', () => {
  expect(pagerDutyOf(alert, 'a-key')).toMatchObject({
    routing_key: 'a-key',
    event_action: 'trigger',
    dedup_key: alert.key,
    payload: { severity: 'critical', timestamp: AT, custom_details: { Units: '2' } },
    links: [{ href: alert.link }],
  })
  expect(pagerDutyOf({ ...alert, severity: 'warn', link: null }, 'k')).not.toHaveProperty('links')
})

test('a report says how the sale stands in its subject', () => {
  const figures = {
    units: { sold: 90, held: 4, free: 6, withheld: 0, total: 100 },
    revenue: [{ currency: 'EUR', paid_minor: 9_000, refunded_minor: 500, left_minor: 8_500 }],
    sold_out_at: null,
    duration_seconds: 60,
    joined: 1_000,
    conversion: { joined_to_paid: 0.09, joined_to_arrived: 1, arrived_to_reserved: 1, reserved_to_paid: 1 },
  }
  const report = reportAlert({ name: 'Aurora', sale: 'aurora', phase: 'open', incidents: [], figures }, AT, null)
  expect(mailOf(report)).toMatchObject({ subject: 'Aurora: 90 of 100 sold' })
  expect(mailOf(report).text).toContain('Revenue: €85.00\nJoined: 1,000\nPaid of those who joined: 9.0 %\n')
  expect(report.text).toBe('It is not over yet. Nothing was found wrong.')
})
