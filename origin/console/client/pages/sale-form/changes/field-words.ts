/**
 * The words for each field of a sale: its label, its section, its value as people read it, and what a change of it does
 * at once while the sale runs. Pure.
 */
import { money } from '../../../../../../shared/format.ts'
import { count, instant } from '../../../format.ts'
import { type Body, currencyOf, type Json, valueAt } from '../draft.ts'
import type { Difference } from './differences.ts'

/** The sections of both pages, in their order. */
export const SECTIONS = {
  sale: [
    ['name', 'Name and id'],
    ['when', 'When'],
    ['stock', 'Stock and limits'],
    ['rate', 'Rate and hold'],
    ['who', 'Who may come in'],
    ['pay', 'Payment'],
    ['asks', 'Delivery'],
    ['words', 'Mails'],
    ['more', 'Rarely needed'],
  ],
  goods: [
    ['products', 'Products'],
    ['bill', 'Fees, tax, delivery'],
    ['brand', 'Brand'],
    ['place', 'Place and date'],
  ],
} as const
export type SectionId = (typeof SECTIONS)[keyof typeof SECTIONS][number][0]

interface Words {
  readonly label: string
  readonly section: SectionId
  readonly unit?: string
  /** The meaning of no value. */
  readonly none?: string
  /** The meaning of each value, by its text. */
  readonly values?: Readonly<Record<string, string>>
  readonly atOnce?: string
}

const ASKED = { off: 'no', optional: 'may', required: 'must' }
const NEW_JOINS = 'for those who join after it; who is in line keeps their place'
const PAGES = 'pages show it within seconds'
const NEW_ORDERS = 'for orders made after it'

/** The words by the path of a field, in which `N` is a place in a list. The longest beginning counts. */
const WORDS: Readonly<Record<string, Words>> = {
  name: { label: 'Name', section: 'name', atOnce: PAGES },
  names: { label: 'Name in other languages', section: 'name', none: 'none', atOnce: PAGES },
  sale: { label: 'Id', section: 'name' },
  time_zone: { label: 'Time zone', section: 'when', atOnce: 'repeated actions follow it' },
  opens_at: { label: 'Opens', section: 'when' },
  ends_at: { label: 'Ends', section: 'when', none: 'when all is sold', atOnce: 'told on every page' },
  pre_queue_opens_at: { label: 'Lobby opens', section: 'when', none: 'at once' },
  limit_per_visitor: { label: 'Most for one visitor', section: 'stock', unit: 'units', atOnce: NEW_ORDERS },
  limit_per_order: {
    label: 'Most in one order',
    section: 'stock',
    unit: 'units',
    none: 'as for a visitor',
    atOnce: NEW_ORDERS,
  },
  'admission.rate_per_second': { label: 'Called', section: 'rate', unit: 'a second' },
  'admission.max_inside': {
    label: 'Most inside at once',
    section: 'rate',
    unit: 'people',
    none: 'no limit',
    atOnce: 'the line waits while more are inside',
  },
  hold_seconds: { label: 'Hold', section: 'rate', unit: 'seconds', atOnce: 'for holds that begin after it' },
  expected_visitors: {
    label: 'Expected visitors',
    section: 'rate',
    none: 'as the edge is set',
    atOnce: 'nothing: read once, at the creation',
  },
  'access.sign_in': {
    label: 'Signing in',
    section: 'who',
    values: { optional: 'may', required: 'must' },
    atOnce: NEW_JOINS,
  },
  'access.invitation': {
    label: 'Invitation',
    section: 'who',
    values: { off: 'for everyone', required: 'only with one' },
    atOnce: NEW_JOINS,
  },
  'access.proof_of_work': {
    label: 'Proof of work',
    section: 'who',
    none: 'as the origin is set',
    values: { off: 'none', auto: 'by itself' },
    atOnce: NEW_JOINS,
  },
  'access.turnstile': { label: 'Turnstile', section: 'who', atOnce: NEW_JOINS },
  access: { label: 'Who may come in', section: 'who', atOnce: NEW_JOINS },
  'lines.N.weight': { label: 'Weight', section: 'who', atOnce: 'the lines share the rate anew' },
  lines: { label: 'Lines', section: 'who', atOnce: NEW_JOINS },
  payment: {
    label: 'Who takes the money',
    section: 'pay',
    values: { provider: 'the payment provider', handover: 'the shop, in its own checkout' },
  },
  'seller.name': { label: 'Seller', section: 'pay', none: 'none', atOnce: 'receipts from now on' },
  'seller.address': { label: 'Address', section: 'pay', none: 'none', atOnce: 'receipts from now on' },
  'seller.tax_id': { label: 'Tax number', section: 'pay', none: 'none', atOnce: 'receipts from now on' },
  seller: { label: 'Receipts', section: 'pay', none: 'name no seller', atOnce: 'receipts from now on' },
  'delivery.kind': {
    label: 'It reaches its buyer',
    section: 'asks',
    values: {
      none: 'nothing is sent',
      pickup: 'picked up',
      address: 'sent to an address',
      handover: 'the shop asks for it',
    },
    atOnce: NEW_ORDERS,
  },
  'delivery.ask.name': { label: 'Asks for the name', section: 'asks', values: ASKED, atOnce: NEW_ORDERS },
  'delivery.ask.phone': { label: 'Asks for the telephone', section: 'asks', values: ASKED, atOnce: NEW_ORDERS },
  'delivery.ask.company': { label: 'Asks for the company', section: 'asks', values: ASKED, atOnce: NEW_ORDERS },
  'delivery.ask.note': { label: 'Asks for a note', section: 'asks', values: ASKED, atOnce: NEW_ORDERS },
  'delivery.pickup': { label: 'Where it is picked up', section: 'asks', none: 'not said', atOnce: PAGES },
  'delivery.return_url': { label: 'Where buyers go', section: 'asks', none: 'nowhere', atOnce: NEW_ORDERS },
  'contact.email': { label: 'Asks for the e-mail address', section: 'asks', values: ASKED, atOnce: NEW_ORDERS },
  'contact.address': {
    label: 'Network address',
    section: 'asks',
    values: { true: 'kept', false: 'not kept' },
    atOnce: NEW_ORDERS,
  },
  'contact.retention_days': { label: 'Kept after the sale', section: 'asks', unit: 'days', atOnce: 'nothing' },
  mails: { label: 'Mails', section: 'words', atOnce: 'mails from now on' },
  max_unpaid_orders: { label: 'Unpaid orders of one visitor', section: 'more', atOnce: NEW_ORDERS },
  oversell_policy: {
    label: 'If oversold',
    section: 'more',
    values: {
      alarm: 'raise an alarm',
      cancel_latest: 'cancel the latest',
      fulfil_from_buffer: 'fulfil them from the withheld',
    },
    atOnce: 'nothing',
  },
  indexed: {
    label: 'Search engines',
    section: 'more',
    values: { true: 'may show it', false: 'must not' },
    atOnce: PAGES,
  },
  test: { label: 'Test sale', section: 'more' },
  'products.N.name': { label: 'Name', section: 'products', atOnce: PAGES },
  'products.N.unit_price_minor': {
    label: 'Price',
    section: 'products',
    atOnce: 'what is in carts and paid keeps its price',
  },
  'products.N.total': { label: 'Units', section: 'products', unit: 'units' },
  'products.N.buffer': { label: 'Withheld', section: 'products', unit: 'units' },
  'products.N.limit': {
    label: 'Most for one visitor',
    section: 'products',
    unit: 'units',
    none: 'as of the sale',
    atOnce: NEW_ORDERS,
  },
  'products.N.images': { label: 'Pictures', section: 'products', none: 'none', atOnce: PAGES },
  'products.N.description': { label: 'Description', section: 'products', none: 'none', atOnce: PAGES },
  'products.N.subtitle': { label: 'Line below the name', section: 'products', none: 'none', atOnce: PAGES },
  'products.N.names': { label: 'Names elsewhere', section: 'products', none: 'none', atOnce: PAGES },
  'products.N.weight_grams': { label: 'Weight', section: 'products', unit: 'g', none: 'none', atOnce: NEW_ORDERS },
  'products.N.tags': { label: 'Tags', section: 'products', none: 'none', atOnce: 'the search finds it by them' },
  'products.N.terms': { label: 'Terms to accept', section: 'products', none: 'none', atOnce: NEW_ORDERS },
  'products.N.options': { label: 'Options', section: 'products', none: 'none', atOnce: PAGES },
  'products.N.variants': { label: 'Variants', section: 'products', none: 'none', atOnce: PAGES },
  'products.N.variants.N.total': { label: 'Units', section: 'products', unit: 'units' },
  'products.N.variants.N.buffer': { label: 'Withheld', section: 'products', unit: 'units' },
  'products.N.variants.N.unit_price_minor': {
    label: 'Price',
    section: 'products',
    none: 'as the product',
    atOnce: 'what is in carts and paid keeps its price',
  },
  'products.N.variants.N.sku': { label: 'SKU', section: 'products', none: 'none', atOnce: 'nothing' },
  products: { label: 'Product', section: 'products', none: 'none', atOnce: PAGES },
  fees: { label: 'Fees', section: 'bill', atOnce: NEW_ORDERS },
  tax: { label: 'Tax', section: 'bill', none: 'none', atOnce: NEW_ORDERS },
  'delivery.countries': { label: 'Countries', section: 'bill', none: 'everywhere', atOnce: NEW_ORDERS },
  'delivery.prices': { label: 'Delivery prices', section: 'bill', none: 'free', atOnce: NEW_ORDERS },
  delivery: { label: 'Delivery', section: 'bill', atOnce: NEW_ORDERS },
  'brand.accent': { label: 'Accent', section: 'brand', none: 'ours', atOnce: PAGES },
  'brand.shop': { label: 'Shop', section: 'brand', none: 'none', atOnce: PAGES },
  'brand.words': { label: 'Words of its own', section: 'brand', none: 'none', atOnce: PAGES },
  'brand.logo': { label: 'Logo', section: 'brand', none: 'none', atOnce: PAGES },
  'brand.hero': { label: 'Hero picture', section: 'brand', none: 'none', atOnce: PAGES },
  brand: { label: 'Brand', section: 'brand', none: 'none', atOnce: PAGES },
  venue: { label: 'Where', section: 'place', none: 'nowhere in particular', atOnce: PAGES },
  'event.starts_at': { label: 'Starts', section: 'place', none: 'not said', atOnce: PAGES },
  'event.ends_at': { label: 'Is over', section: 'place', none: 'not said', atOnce: PAGES },
  event: { label: 'Date', section: 'place', none: 'none', atOnce: PAGES },
}

function wordsOf(path: string): Words {
  const names = path.replace(/\.\d+(?=\.|$)/g, '.N').split('.')
  for (let many = names.length; many > 0; many--) {
    const words = WORDS[names.slice(0, many).join('.')]
    if (words) return words
  }
  return { label: path, section: 'more' }
}

export const sectionOf = (path: string): SectionId => wordsOf(path).section

/** The label of a field, with the product, variant or line to which it belongs. */
export function labelOf(path: string, sale: Body): string {
  const { label } = wordsOf(path)
  const [product, variant, line] = [/^products\.[^.]+/, /^products\.[^.]+\.variants\.[^.]+/, /^lines\.[^.]+/].map(
    (form) => {
      const of = form.exec(path)?.[0]
      return of === undefined ? undefined : (valueAt(sale, of) as Body | undefined)
    },
  )
  const parts = [
    product && String(product.name),
    variant && Object.values((variant.options ?? {}) as Body).join(', '),
    line && String(line.line),
  ].filter((text) => text)
  const isWhole = /^(products|lines)\.[^.]+$/.test(path)
  return parts.length === 0
    ? label
    : isWhole
      ? `${label} ${parts.join(', ')}`
      : `${parts.join(', ')}: ${label.toLowerCase()}`
}

/** A value as people read it. */
export function inWords(path: string, value: Json | undefined, sale: Body): string {
  const { none = 'none', unit, values } = wordsOf(path)
  if (value === null || value === undefined || value === '') return none
  if (values?.[String(value)] !== undefined) return values[String(value)] ?? ''
  if (path.endsWith('_minor') && typeof value === 'number') return money('en', value, currencyAt(path, sale))
  if (typeof value === 'number') return unit === undefined ? count(value) : `${count(value)} ${unit}`
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string')
    return path.endsWith('_at') && !Number.isNaN(Date.parse(value)) ? instant(value) : value
  if (Array.isArray(value))
    return value.every((one) => typeof one === 'string') ? value.join(', ') || none : entries(value.length)
  const named = (value as Body).name
  if (typeof named === 'string') return named
  const texts = Object.values(value as Body)
  return texts.length > 0 && texts.every((one) => typeof one === 'string') ? texts.join(', ') : entries(texts.length)
}

const entries = (many: number) => (many === 1 ? '1 entry' : `${many} entries`)
const currencyAt = (path: string, sale: Body) => {
  const product = /^products\.\d+/.exec(path)?.[0]
  const currency = product && (valueAt(sale, `${product}.currency`) as string | undefined)
  return currency || currencyOf(sale)
}

/** What a change does at once while the sale runs. */
export function atOnce({ path, before, after }: Difference): string {
  if (path === 'admission.rate_per_second')
    return Number(after) > Number(before) ? 'the line moves faster' : 'the line moves slower'
  if (/^products\..*\.?total$/.test(path)) return unitsAtOnce(Number(after) - Number(before))
  if (/^products\..*\.?buffer$/.test(path)) return unitsAtOnce(Number(before ?? 0) - Number(after ?? 0))
  if (/^products\.\d+$/.test(path) && (before ?? null) === null) return 'for sale within 1 s'
  if (/^products\.[^.]+$/.test(path) && (after ?? null) === null) return 'for sale no more'
  return wordsOf(path).atOnce ?? 'nothing'
}

const unitsAtOnce = (more: number) =>
  Number.isNaN(more)
    ? 'nothing'
    : more < 0
      ? `${count(-more)} fewer for sale within 1 s`
      : `${count(more)} more for sale within 1 s, for those who are next in line`
