/**
 * Searches orders by what an operator types: short number, parts of the id, visitor, account, address, mail, charge
 * and notes, ticket number, and names of products. If that finds almost nothing, one typing error in each word is
 * forgiven.
 */
import { withAsciiDomain } from '../../shared/api/fields.ts'
import { numberOf } from '../../shared/format.ts'
import { storedText } from '../../shared/lib/text.ts'
import { invalidField, ProblemError } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import { ALL_STATUSES, type Filters, LAST_ID, newestOrders, QUERY_CANCELED } from './order-filters.ts'
import { type Found, findByProbes, findSimilar, type Probe } from './support-queries.ts'

export interface Search extends Omit<Filters, 'statuses'> {
  readonly text: string
  readonly statuses?: Filters['statuses'] | undefined
  readonly limit: number
  /** The `next` of the previous page. */
  readonly after?: string | undefined
}

interface Page {
  readonly ids: readonly string[]
  readonly next: string | null
}

/**
 * The ranks of a match: the text contains the whole input; it contains all words; a product's name contains the
 * input; the text contains similar words.
 */
const [EXACT, WORDS, PRODUCT, SIMILAR] = [0, 1, 2, 3]

/** A shorter input would match too many orders. */
const SHORTEST = 2
/** A shorter word would be similar to too many others. */
const SHORTEST_SIMILAR = 4
/** If a search finds this many orders, the input is taken to have no typing error. */
const FEW = 5

const wordsIn = (text: string) =>
  (text.match(/[\p{L}\p{N}@._:+-]+/gu) ?? []).filter((word) => /[\p{L}\p{N}]/u.test(word))

/** The kind of a search for the audit log, which must not contain the input itself. */
export function kindOfSearch(text: string): 'date' | 'mail' | 'address' | 'number' | 'words' {
  const typed = text.trim().toLowerCase()
  if (typed === '') return 'date'
  if (typed.includes('@')) return 'mail'
  if (/^[0-9a-f.:]+$/.test(typed) && /[.:]/.test(typed)) return 'address'
  return /^[0-9a-f-]{4,}$/.test(typed) || /\d$/.test(typed) ? 'number' : 'words'
}

/**
 * Returns the probes that find the input literally. A number is matched as a whole. An input that may belong to a
 * hexadecimal number, as visitors have, is matched as a prefix, and so are words without three letters in a row,
 * because the index has no trigrams of them. An address is matched with x for its dots and colons, as in the ledger.
 */
function literalProbes(text: string): Probe[] {
  const words = wordsIn(text)
  const number = numberOf(text)
  const probes: Probe[] = number === null ? [] : [{ number, rank: EXACT }]
  const hex = text.replaceAll('-', '')
  if (/^[0-9a-f]{4,32}$/.test(hex))
    probes.push({ from: uuid(hex, '0'), to: uuid(hex, 'f'), rank: hex.length === 32 ? EXACT : WORDS })
  if (text.length < SHORTEST || words.length === 0) return probes
  const patterns = words.map((word) => {
    if (/^(?=.*[.:])[0-9a-f.:]+$/.test(word)) return `% ${word.replaceAll(/[.:]/g, 'x')}%`
    const escaped = word.replaceAll('_', '\\_')
    if (/^\d+$/.test(word)) return `% ${escaped} %`
    return /^[0-9a-f-]+$/.test(word) || !/[\p{L}\p{N}]{3}/u.test(word) ? `% ${escaped}%` : `%${escaped}%`
  })
  return [...probes, { patterns, whole: ` ${words.join(' ')} `, rank: EXACT }, { product: text, rank: PRODUCT }]
}

const uuid = (hex: string, rest: string) =>
  hex.padEnd(32, rest).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** Returns one page of the found orders. */
export async function findOrderIds(sql: Sql, search: Search): Promise<Page> {
  const { text, limit, after: cursor, statuses = ALL_STATUSES, ...others } = search
  const filters: Filters = { ...others, statuses }
  const after = cursorOf(cursor)
  const typed = storedText(text).toLowerCase().split(' ').map(withAsciiDomain).join(' ')
  if (typed === '') return newest(sql, filters, after?.order_id ?? LAST_ID, limit)
  const found = await findAll(sql, typed, filters)
  const remaining = after ? found.filter((one) => isAfter(one, after)) : found
  const page = remaining.slice(0, limit)
  const last = page.at(-1)
  return {
    ids: page.map(({ order_id }) => order_id),
    next: last && remaining.length > limit ? `${last.rank}_${last.order_id}` : null,
  }
}

async function newest(sql: Sql, filters: Filters, before: string, limit: number): Promise<Page> {
  const ids = await newestOrders(sql, filters, before, limit + 1)
  const page = ids.slice(0, limit)
  return { ids: page, next: ids.length > limit ? `${EXACT}_${page.at(-1)}` : null }
}

/** Finds all orders up to the limits, so that every page is cut from the same list. */
async function findAll(sql: Sql, typed: string, filters: Filters): Promise<readonly Found[]> {
  const found = await findByProbes(sql, literalProbes(typed), filters)
  // The domain of a mail address is left out, because many addresses share it.
  const similarTo = wordsIn(typed.replaceAll(/@\S*/g, '')).filter((word) => word.length >= SHORTEST_SIMILAR)
  if (found.length >= FEW || found[0]?.rank === EXACT || similarTo.length === 0) return found
  const known = new Set(found.map(({ order_id }) => order_id))
  const similar = await findSimilar(sql, similarTo, SIMILAR, filters).catch((error) => {
    if (error.code !== QUERY_CANCELED) throw error
    return []
  })
  return [...found, ...similar.filter(({ order_id }) => !known.has(order_id))]
}

const isAfter = (one: Found, after: Found) =>
  one.rank > after.rank || (one.rank === after.rank && one.order_id < after.order_id)

function cursorOf(after: string | undefined): Found | undefined {
  if (after === undefined) return undefined
  const [, rank, order_id] = /^(\d)_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(after) ?? []
  if (rank === undefined || order_id === undefined)
    throw new ProblemError(invalidField('after', 'the next of the page before is required'))
  return { rank: Number(rank), order_id }
}
