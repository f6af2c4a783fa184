/** Tells an audit entry: its changes, field by field, and a sentence that follows its operator's name. Pure. */
import type { RuleConfig } from '../../../../../shared/api/access.ts'
import type { AsJson, AuditRow } from '../../../../../shared/api/operators/answers.ts'
import type { ScheduledEffect } from '../../../../../shared/api/operators/requests.ts'
import { money } from '../../../../../shared/format.ts'
import { count, instant } from '../../format.ts'
import { ACTIONS, inWords as ruleInWords } from '../access/rule-form.ts'
import { inWords as effectInWords } from '../scheduled/actions.ts'
import { type Change, changesOf } from './diff.ts'

export type Entry = AsJson<AuditRow>
/** The parts of an entry that its sentence needs. */
export type Told = Pick<Entry, 'action' | 'before' | 'after' | 'product_id' | 'product_name' | 'currency' | 'is_parcel'>
type Fields = Readonly<Record<string, unknown>>
interface Sides {
  readonly entry: Told
  readonly changes: readonly Change[]
  readonly before: Fields
  readonly after: Fields
}

const some = (many: unknown, one: string, more = `${one}s`) =>
  `${count(Number(many))} ${Number(many) === 1 ? one : more}`
const because = (reason: unknown) => (reason ? `: ${String(reason)}` : '')
/** The English text, or the text in the first language that it has. */
const quoteTexts = (texts: unknown) =>
  texts !== null && typeof texts === 'object' ? `: “${String((texts as Fields).en ?? Object.values(texts)[0])}”` : ''
const ruleOf = (fields: Fields) => {
  const { action, when } = fields as unknown as RuleConfig
  return `${ACTIONS[action]}: ${ruleInWords(when)}`
}
const linesIn = ({ lines }: Fields) => {
  const numbers = Array.isArray(lines) ? lines : []
  return `${numbers.length === 1 ? 'line' : 'lines'} ${numbers.join(', ')}`
}
const effectOf = (fields: Fields) => effectInWords(fields as unknown as ScheduledEffect, [])
const whenOf = ({ next_at, cron }: Fields) => (cron ? `by ${String(cron)}` : instant(String(next_at)))
const productOf = ({ product_name, product_id }: Told) => product_name ?? product_id ?? 'a product'

const SENTENCES: Readonly<Record<string, (sides: Sides) => string>> = {
  created: () => 'created the sale',
  changed: ({ changes }) => changeText(changes),
  opened: () => 'opened the sale',
  paused: ({ after }) => `paused the sale${quoteTexts(after.pause_reason)}`,
  resumed: () => 'resumed the sale',
  ended: () => 'ended the sale',
  'rate set': ({ changes }) => {
    const rate = changes.find(({ field }) => field === 'rate_per_second')
    if (!rate) return 'left the rate as it was'
    const [from, to] = [Number(rate.before), Number(rate.after)]
    return `${to > from ? 'raised' : 'lowered'} the rate from ${count(from)} to ${count(to)} a second`
  },
  'price set': ({ after, changes }) => {
    const price = changes.find(({ field }) => field.endsWith('.unit_price_minor'))
    if (!price) return 'left the price as it was'
    const [, id = ''] = price.field.split('.')
    const { name, currency } = (after.products as Products)[id] ?? { name: id, currency: 'EUR' }
    const [from, to] = [price.before, price.after].map((minor) => money('en', Number(minor), currency))
    return `changed the price of ${name} from ${from} to ${to}`
  },
  restocked: ({ entry, before, after }) =>
    `added ${some(after.quantity, 'unit')} of ${productOf(entry)}: ${count(Number(before.total))} are now ` +
    `${count(Number(after.total))}`,
  'synonyms set': () => 'changed the synonyms of the search',
  reconciled: () => 'had gate, ledger and orders compared',
  posted: ({ after }) => `posted in the feed${quoteTexts(after.text)}`,
  'post removed': ({ before }) => `took post ${String(before.n)} away${quoteTexts(before.text)}`,
  announced: ({ after }) => `announced${quoteTexts(after.text)}`,
  'announcement ended': ({ before }) => `took the announcement away${quoteTexts(before.text)}`,
  'action added': ({ after }) => `scheduled “${effectOf(after)}”, ${whenOf(after)}`,
  'action cancelled': ({ before }) => `called off “${effectOf(before)}”, ${whenOf(before)}`,
  'action suspended': ({ after }) => `suspended “${effectOf(after)}” of ${String(after.operator)}`,
  'action run': ({ before }) => `had “${effectOf(before)}” run at once`,
  'action resumed': ({ before }) => `resumed “${effectOf(before)}”, in their own name`,
  scheduled: ({ after }) =>
    `had scheduled “${effectOf(after)}”, which ${after.error ? `failed: ${String(after.error)}` : 'was carried out'}`,
  'rule added': ({ after }) => `made a rule: ${ruleOf(after)}`,
  'rule changed': ({ before, after }) => `changed the rule “${ruleOf(before)}” to “${ruleOf(after)}”`,
  'rule removed': ({ before }) => `removed the rule “${ruleOf(before)}”`,
  'block added': ({ after }) =>
    `blocked an ${String(after.by)}${because(after.note)}`.replace('an visitor', 'a visitor'),
  'block removed': ({ before }) =>
    `took back the block of an ${String(before.by)}${because(before.note)}`.replace('an visitor', 'a visitor'),
  'invitations imported': ({ after }) =>
    `uploaded ${some(after.imported, 'invitation code')}${after.replace ? ' in place of all others' : ''}`,
  'invitations signed': ({ after }) =>
    `made ${some(after.count, 'invitation link')}, each for ${some(after.uses, 'visitor')}`,
  'promo codes imported': ({ before, after, changes }) =>
    changes.some(({ field }) => field === 'codes')
      ? `changed the list of promo codes, from ${count(Number(before.codes))} to ${count(Number(after.codes))}`
      : `changed the list of ${some(after.codes, 'promo code')}`,
  'links declared void': ({ after }) =>
    `declared the invitation links void that were made before ${instant(String(after.void_before))}`,
  cancelled: ({ after }) => `cancelled the order${because(after.reason)}`,
  'lines cancelled': ({ after }) => `cancelled ${linesIn(after)} of the order${because(after.reason)}`,
  'units returned': ({ after }) => `put ${after.lines ? linesIn(after) : 'the units'} of the order back on sale`,
  blocked: () => 'cancelled the order, since its buyer is blocked',
  'cancelled the latest, being oversold': () => 'cancelled the order, since more was sold than there is',
  fulfilled: ({ entry }) => `marked the order as ${entry.is_parcel ? 'sent' : 'handed over'}`,
  'refund requested': ({ entry, after }) => {
    const amount = entry.currency === null ? 'a part' : money('en', Number(after.amount_minor), entry.currency)
    return `refunded ${amount} of ${after.lines ? `${linesIn(after)} of ` : ''}the order${because(after.reason)}`
  },
  'section created': ({ after }) => `made the section ${String(after.name)}`,
  'section changed': ({ entry }) => `changed the section ${productOf(entry)}`,
  'section removed': ({ before }) => `removed the section ${String(before.name)}, with ${some(before.seats, 'seat')}`,
  'chart changed': () => 'changed how seats are chosen',
  'seats imported': ({ entry, after }) =>
    `imported ${some(after.total, 'seat')} of ${productOf(entry)}: ${count(Number(after.added))} new, ` +
    `${count(Number(after.changed))} changed, ${count(Number(after.removed))} removed`,
  'seats blocked': ({ entry, after }) =>
    `${after.until ? 'held' : 'blocked'} ${some(after.seats, 'seat')} of ${productOf(entry)}` +
    `${after.until ? ` back until ${instant(String(after.until))}` : ''}${because(after.reason)}`,
  'seats released': ({ entry, after }) =>
    `released ${some(after.seats, 'seat')} of ${productOf(entry)}${because(after.reason)}`,
  'seats priced': ({ entry, after }) => {
    const amount = money('en', Number(after.price_minor), entry.currency ?? 'EUR')
    const price = after.price_minor === undefined ? '' : ` to ${amount}`
    const category = after.category === undefined ? '' : ` to the category ${String(after.category)}`
    return `set ${some(after.seats, 'seat')} of ${productOf(entry)}${[price, category].filter(Boolean).join(' and')}`
  },
  'seat moved': ({ before, after }) =>
    `gave the order the seat ${String(after.seat)} instead of ${String(before.seat)}`,
  'sold at the box office': ({ entry, after }) =>
    `sold ${some(after.units, 'unit')} at the box ` +
    `office${entry.currency === null ? '' : ` for ${money('en', Number(after.total_minor), entry.currency)}`}` +
    because(after.note),
  noted: () => 'wrote a note about the order',
  'order read': () => 'read the order and its contact',
  'orders searched': ({ after }) => `searched orders by ${String(after.by)}`,
  'orders exported': () => 'exported all orders',
  'person exported': () => 'exported what is kept of a person',
  visitor_forgotten: ({ after }) => `forgot a visitor, with ${some(after.orders, 'order')}`,
  'operator added': ({ before, after }) =>
    before.name === undefined
      ? `made ${String(after.name)} an operator, as ${String(after.role)}`
      : `gave ${String(after.name)} a new key, as ${String(after.role)}`,
  'operator revoked': ({ before }) => `revoked the key of ${String(before.name)}`,
  'post edited': ({ before, after, changes }) => {
    const text = quoteTexts(after.text)
    if (before.on_top !== after.on_top)
      return `${after.on_top ? 'put a post on top' : 'took a post off the top'}${text}`
    const isOfTime = changes.every(({ field }) => field === 'until')
    return `${isOfTime ? 'changed how long a post stays on top' : 'edited a post'}${text}`
  },
  'alerts changed': () => 'changed which findings reach people',
  'alerts tested': () => 'sent a test of alerts',
  'webhook created': ({ after }) => `added the webhook endpoint ${String(after.url)}`,
  'webhook changed': ({ after, changes }) => {
    const url = String(after.url)
    if (changes.some(({ field }) => field === 'state'))
      return `${after.state === 'paused' ? 'paused' : 'resumed'} the webhook endpoint ${url}`
    return `changed the webhook endpoint ${url}`
  },
  'webhook deleted': ({ before }) => `deleted the webhook endpoint ${String(before.url)}`,
  'webhook sent again': ({ after }) => `sent ${some(after.replayed, 'webhook message')} again`,
  'webhook tried': ({ after }) => `had the webhook endpoint ${String(after.url)} tried at once`,
  'webhook tested': ({ after }) => `sent a test to the webhook endpoint ${String(after.url)}`,
  'view rules changed': ({ after }) =>
    `changed the rules of views, now ${some(Array.isArray(after.rules) ? after.rules.length : 0, 'rule')}`,
  'views counted again': ({ after }) => `counted the views from ${String(after.from)} to ${String(after.to)} again`,
  'job tried again': ({ after }) => `had a job of the queue ${String(after.queue)} tried again`,
  'jobs tried again': ({ after }) =>
    `had ${some(after.retried, 'job')} of the queue ${String(after.queue)} tried again`,
  'gate rebuilt from the ledger': ({ entry }) => `rebuilt the gate of ${productOf(entry)} from the ledger`,
  'fulfilled from the buffer': ({ entry }) => `served orders of ${productOf(entry)} from the buffer`,
}

/** The sentence is null for an action without one, for example one of a newer version. */
export function describe(entry: Told): { readonly sentence: string | null; readonly changes: readonly Change[] } {
  const fields = (side: unknown) => (side !== null && typeof side === 'object' ? (side as Fields) : {})
  const sides = { before: fields(entry.before), after: fields(entry.after) }
  const changes = changesOf(entry.before, entry.after)
  return { sentence: SENTENCES[entry.action]?.({ entry, ...sides, changes }) ?? null, changes }
}

type Products = Readonly<Record<string, { readonly name: string; readonly currency: string } | undefined>>

const MOST_NAMES = 4

/** Describes the changes, for example "changed the hold seconds from 120 to 90", or lists what was changed. */
function changeText(changes: readonly Change[]): string {
  const [first] = changes
  if (!first) return 'saved the sale as it was'
  const nameOf = ({ field }: Change) => field.split('.').slice(-2).join(' ').replaceAll('_', ' ')
  const { before = 'none', after = 'none' } = first
  if (changes.length === 1) return `changed the ${nameOf(first)} from ${before} to ${after}`
  const names = changes.slice(0, MOST_NAMES).map(nameOf).join(', ')
  return `changed ${changes.length} things of the sale: ${names}${changes.length > MOST_NAMES ? ' and more' : ''}`
}
