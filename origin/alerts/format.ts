/**
 * Writes an alert for each channel: a mail, a message of Slack's incoming webhooks, an event of PagerDuty's Events API
 * v2. It is the only place that knows their shapes. Pure.
 */
import { html } from 'hono/html'
import type { Alert, Severity } from '../../shared/api/operators/alerts.ts'

interface Mail {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** The first word of a subject, by which people sort their mail. */
const WORDS: Readonly<Record<Severity, string>> = { page: 'Act now', warn: 'Look soon', info: 'For information' }
/** Slack draws a bar in this colour beside the message. */
const COLOURS: Readonly<Record<Severity, string>> = { page: '#b3261e', warn: '#8a4f00', info: '#2457c5' }
const MARKS: Readonly<Record<Severity, string>> = { page: '◆', warn: '▲', info: '●' }
/** PagerDuty refuses a longer summary. */
const MAX_SUMMARY = 1_024
/** Slack refuses a message with more fields in a section. */
const MAX_FIELDS = 10

/** A header has one line. */
const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim()

export function mailOf({ severity, title, text, facts, link, at }: Alert): Mail {
  const when = new Date(at).toUTCString()
  return {
    subject: oneLine(severity === 'info' ? title : `${WORDS[severity]}: ${title}`),
    text: [
      title,
      '',
      text,
      '',
      ...facts.map(([name, value]) => `${name}: ${value}`),
      `When: ${when}`,
      ...(link === null ? [] : ['', link]),
      '',
    ].join('\n'),
    html: String(html`<!doctype html>
<html lang="en"><body style="font:15px/1.5 system-ui,sans-serif">
<p style="font-size:18px"><b>${MARKS[severity]} ${title}</b></p><p>${text}</p>
<table cellpadding="4">
${[...facts, ['When', when]].map(([name, value]) => html`<tr><td>${name}</td><td><b>${value}</b></td></tr>`)}
</table>
${link !== null && html`<p><a href="${link}">Open it in the console</a></p>`}
</body></html>`),
  }
}

/** Text between `<`, `>` and `&` means something to Slack. */
const inSlack = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

export function slackOf({ severity, title, text, facts, link, at }: Alert): object {
  const fields = facts.slice(0, MAX_FIELDS).map(([name, value]) => ({
    type: 'mrkdwn',
    text: `*${inSlack(name)}*\n${inSlack(value)}`,
  }))
  const more = link === null ? '' : `  <${link}|Open it in the console>`
  return {
    // Notifications show this text, and screen readers read it.
    text: `${WORDS[severity]}: ${inSlack(title)}`,
    attachments: [
      {
        color: COLOURS[severity],
        blocks: [
          {
            type: 'section',
            text: { type: 'mrkdwn', text: `${MARKS[severity]} *${inSlack(title)}*\n${inSlack(text)}` },
            ...(fields.length > 0 && { fields }),
          },
          {
            type: 'context',
            elements: [{ type: 'mrkdwn', text: `${WORDS[severity]}, ${new Date(at).toUTCString()}${more}` }],
          },
        ],
      },
    ],
  }
}

const PAGERDUTY_SEVERITIES: Readonly<Record<Severity, string>> = { page: 'critical', warn: 'warning', info: 'info' }

export function pagerDutyOf({ key, severity, title, text, facts, link, at }: Alert, routingKey: string): object {
  return {
    routing_key: routingKey,
    event_action: 'trigger',
    dedup_key: key.slice(0, 255),
    payload: {
      summary: oneLine(title).slice(0, MAX_SUMMARY),
      source: 'flash-sale',
      severity: PAGERDUTY_SEVERITIES[severity],
      timestamp: at,
      custom_details: { advice: text, ...Object.fromEntries(facts) },
    },
    ...(link !== null && { links: [{ href: link, text: 'Open it in the console' }] }),
  }
}
