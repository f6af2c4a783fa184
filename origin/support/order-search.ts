/**
 * The search for orders, as one types: their short number, parts of their id, visitor, account, address, mail, charge and notes, the ticket number,
 * and names of products. If that finds next to nothing, one typing error in each word is forgiven.
 */
import { type LedgerStatus, ORDER_STATUSES } from '../../shared/order-status.ts'
import { invalidField, ProblemError } from '../../shared/problem.ts'
import { numberOf } from '../../shared/short-number.ts'
import type { Sql } from '../ledger/connection.ts'
import {
  type Filters,
  type Found,
  findByProbes,
  findSimilar,
  newestOfAll,
  newestOrders,
  type Probe,
} from './support-queries.ts'

export interface Search {
  readonly text: string
  readonly sale?: string | undefined
  readonly product?: string | undefined
  readonly statuses?: readonly LedgerStatus[] | undefined
  readonly limit: number
  /** The `next` of the page before. */
  readonly after?: string | undefined
}

interface Page {
  readonly ids: readonly string[]
  readonly next: string | null
}

/** Ranks: all that was typed stands in the text as it is; its words do; a product's name has it; similar words do. */
const [EXACT, WORDS, PRODUCT, SIMILAR] = [0, 1, 2, 3]

/** Fewer characters would match too much. */
const SHORTEST = 2
/** Fewer are similar to too much. */
const SHORTEST_SIMILAR = 4
/** Postgres' code of a statement that took too long. */
const QUERY_CANCELED = '57014'
/** Whoever finds as many as these has made no error. */
const FEW = 5

const ALL: readonly LedgerStatus[] = [...ORDER_STATUSES.filter((status) => status !== 'processing'), 'returned']

const wordsIn = (text: string) =>
  (text.match(/[\p{L}\p{N}@._:+-]+/gu) ?? []).filter((word) => /[\p{L}\p{N}]/u.test(word))

/** What was searched for, for the audit log, which must not hold it. */
export function kindOfSearch(text: string): 'date' | 'mail' | 'address' | 'number' | 'words' {
  const typed = text.trim().toLowerCase()
  if (typed === '') return 'date'
  if (typed.includes('@')) return 'mail'
  if (/^[0-9a-f.:]+$/.test(typed) && /[.:]/.test(typed)) return 'address'
  return /^[0-9a-f-]{4,}$/.test(typed) || /\d$/.test(typed) ? 'number' : 'words'
}

/**
 * What finds the text as it is. A number is looked for as a whole, and what could be of a hexadecimal number, as visitors have, as a
 * beginning; an address too, with x for its dots and colons as in the ledger; so are words without three letters in a row, of which the index has no inner part.
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

/** One page of the orders found. */
export async function findOrderIds(sql: Sql, search: Search): Promise<Page> {
  const { text, sale, product, statuses = ALL, limit } = search
  const filters: Filters = { sale, product, statuses }
  const after = cursorOf(search.after)
  const typed = text.trim().toLowerCase()
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
  const isFiltered = filters.sale ?? filters.product ?? (filters.statuses.length < ALL.length || undefined)
  const ids = isFiltered
    ? await newestOrders(sql, filters, before, limit + 1)
    : await newestOfAll(sql, before, limit + 1)
  const page = ids.slice(0, limit)
  return { ids: page, next: ids.length > limit ? `${EXACT}_${page.at(-1)}` : null }
}

/** All that is found, up to the bounds: so each page is cut from the same list. */
async function findAll(sql: Sql, typed: string, filters: Filters): Promise<readonly Found[]> {
  const found = await findByProbes(sql, literalProbes(typed), filters)
  // Without a mail's domain, which many have in common.
  const similarTo = wordsIn(typed.replaceAll(/@\S*/g, '')).filter((word) => word.length >= SHORTEST_SIMILAR)
  if (found.length >= FEW || found[0]?.rank === EXACT || similarTo.length === 0) return found
  const known = new Set(found.map(({ order_id }) => order_id))
  const similar = await findSimilar(sql, similarTo, SIMILAR, filters).catch((error) => {
    if (error.code !== QUERY_CANCELED) throw error
    return []
  })
  return [...found, ...similar.filter(({ order_id }) => !known.has(order_id))]
}

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const isAfter = (one: Found, after: Found) =>
  one.rank > after.rank || (one.rank === after.rank && one.order_id < after.order_id)

function cursorOf(after: string | undefined): Found | undefined {
  if (after === undefined) return undefined
  const [, rank, order_id] = /^(\d)_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(after) ?? []
  if (rank === undefined || order_id === undefined)
    throw new ProblemError(invalidField('after', 'the next of the page before is required'))
  return { rank: Number(rank), order_id }
}
