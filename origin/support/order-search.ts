/**
 * The search for orders, as one types: number, visitor, account, address, mail, charge, ticket number, product and note. What
 * is exactly what was typed comes first, then what begins so, then products and notes with these words. If that finds next
 * to nothing, one typing error in a mail is forgiven, and one in each word of a note.
 */
import type { Logger } from 'pino'
import { ACCOUNT_PREFIX } from '../../shared/api/access.ts'
import { type LedgerStatus, ORDER_STATUSES } from '../../shared/order-status.ts'
import { invalidField, ProblemError } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import {
  type Filters,
  type Found,
  findByProbes,
  hasTrigrams,
  newestOfAll,
  newestOrders,
  type Probe,
  wordsBeginning,
  wordsLike,
} from './search-queries.ts'

export interface Search {
  readonly text: string
  readonly sale?: string
  readonly product?: string
  readonly statuses?: readonly LedgerStatus[]
  readonly limit: number
  /** The `next` of the page before. */
  readonly after?: string
}

interface Page {
  readonly ids: readonly string[]
  readonly next: string | null
}

const EXACT = 0
const BEGINS = 1
const WORDS = 2
const ALIKE = 3

/** Fewer characters begin too many visitors, mails and charges to be looked at. */
const SHORTEST_BEGINNING = 3
const SHORTEST_WORD = 2
/** Fewer are like too much. */
const SHORTEST_ALIKE = 4
/** An error is looked for among as many: each costs some eighty probes of an index. */
const LONGEST_ALIKE = 24
/** Whoever finds as many as these has made no error. */
const FEW = 5

const ALL: readonly LedgerStatus[] = [...ORDER_STATUSES.filter((status) => status !== 'processing'), 'returned']

/** What finds the text as it is. */
function literalProbes(text: string): Probe[] {
  const typed = text.trim()
  const lower = typed.toLowerCase()
  const probes: Probe[] = []
  const hex = lower.replaceAll('-', '')
  if (/^[0-9a-f]{4,32}$/.test(hex))
    probes.push({ by: 'order', from: uuid(hex, '0'), to: uuid(hex, 'f'), rank: hex.length === 32 ? EXACT : BEGINS })
  // A number alone, or after its sale: `spring-drop #4711`.
  const [, sale, number] = /^(?:([\w.-]+)[\s#]+)?#?(\d{1,15})$/.exec(typed) ?? []
  if (number !== undefined) probes.push({ by: 'ticket', number: Number(number), ...(sale && { sale }), rank: EXACT })
  const visitors = [typed, ACCOUNT_PREFIX + typed]
  for (const is of visitors) probes.push({ by: 'visitor', is, rank: EXACT })
  probes.push({ by: 'email', is: lower, rank: EXACT })
  const isAddress = /^[0-9a-f.:]+$/.test(lower) && /[.:]/.test(lower)
  if (isAddress) probes.push({ by: 'address', is: lower, rank: EXACT })
  if (typed.length >= SHORTEST_BEGINNING) {
    for (const begins of visitors) probes.push({ by: 'visitor', begins, rank: BEGINS })
    probes.push({ by: 'email', begins: lower, rank: BEGINS }, { by: 'charge', begins: typed, rank: BEGINS })
    if (isAddress) probes.push({ by: 'address', begins: lower, rank: BEGINS })
  }
  if (lower.length >= SHORTEST_WORD && wordsOf(lower).length > 0)
    probes.push({ by: 'product', like: lower, rank: WORDS })
  return probes
}

/** `known` are the words of notes that begin with each of `words`; null where they were not looked for, or are too many. */
export function noteProbes(words: readonly string[], known: readonly (readonly string[] | null)[]): Probe[] {
  if (words.length === 0 || known.some((beginning) => beginning?.length === 0)) return []
  // Whole words take a third of the time: for a beginning the index collects all that begins so, however rare the other words are.
  const all = words.map((word, i) => anyOf(known[i] ?? null) ?? `${word}:*`)
  return [{ by: 'note', words: all.join(' & '), rank: WORDS }]
}

const anyOf = (words: readonly string[] | null) => words && `(${words.map(quoted).join(' | ')})`

const wordsOf = (lower: string) => lower.match(/[\p{L}\p{N}]+/gu) ?? []

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789._-']

/** The beginnings of a mail that differ from the typed one by a letter that is wrong, missing, too many or swapped. */
function mailVariants(text: string): string[] {
  const typed = text.trim().toLowerCase()
  if (typed.length < SHORTEST_ALIKE || /\s/.test(typed)) return []
  const variants = new Set<string>()
  for (let at = 0; at < Math.min(typed.length, LONGEST_ALIKE); at++) {
    const [before, letter, after] = [typed.slice(0, at), typed.charAt(at), typed.slice(at + 1)]
    variants.add(before + after)
    if (after !== '') variants.add(before + after.charAt(0) + letter + after.slice(1))
    for (const other of LETTERS) {
      variants.add(before + other + after)
      variants.add(before + other + letter + after)
    }
  }
  variants.delete(typed)
  return [...variants]
}

const uuid = (hex: string, rest: string) =>
  hex.padEnd(32, rest).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

export class OrderSearch {
  readonly #sql: Sql
  readonly #log: Logger
  #trigrams: boolean | undefined

  constructor(sql: Sql, log: Logger) {
    this.#sql = sql
    this.#log = log
  }

  async find(search: Search): Promise<Page> {
    const { text, sale, product, statuses = ALL, limit } = search
    const filters: Filters = { ...(sale && { sale }), ...(product && { product }), statuses }
    const after = cursorOf(search.after)
    if (text.trim() === '') return this.#newest(filters, after?.order_id ?? LAST_ID, limit)
    const found = await this.#found(text, filters)
    const rest = after ? found.filter((one) => isAfter(one, after)) : found
    const page = rest.slice(0, limit)
    const last = page.at(-1)
    return {
      ids: page.map(({ order_id }) => order_id),
      next: last && rest.length > limit ? `${last.rank}_${last.order_id}` : null,
    }
  }

  async #newest(filters: Filters, before: string, limit: number): Promise<Page> {
    const isFiltered = filters.sale ?? filters.product ?? (filters.statuses.length < ALL.length || undefined)
    const ids = isFiltered
      ? await newestOrders(this.#sql, filters, before, limit + 1)
      : await newestOfAll(this.#sql, before, limit + 1)
    const page = ids.slice(0, limit)
    return { ids: page, next: ids.length > limit ? `${EXACT}_${page.at(-1)}` : null }
  }

  /** All that is found, up to the bounds: so each page is cut from the same list. */
  async #found(text: string, filters: Filters): Promise<Found[]> {
    const sql = this.#sql
    const hasTrigrams = await this.#hasTrigrams()
    const all = text.trim().length >= SHORTEST_WORD ? wordsOf(text.toLowerCase()) : []
    const known = hasTrigrams && all.length > 0 ? await wordsBeginning(sql, all) : all.map(() => null)
    const found = await findByProbes(sql, [...literalProbes(text), ...noteProbes(all, known)], filters)
    if (found.length >= FEW || found[0]?.rank === EXACT) return found
    const probes: Probe[] = []
    const variants = mailVariants(text)
    if (variants.length > 0) probes.push({ by: 'email', variants, rank: ALIKE })
    const typed = all.filter((word) => word.length >= SHORTEST_ALIKE)
    const words = hasTrigrams && typed.length > 0 ? await wordsLike(sql, typed) : []
    if (words.length > 0 && words.every((alike) => alike.length > 0))
      probes.push({ by: 'note', words: words.map(anyOf).join(' & '), rank: ALIKE })
    const shown = new Set(found.map(({ order_id }) => order_id))
    const alike = await findByProbes(sql, probes, filters)
    return [...found, ...alike.filter(({ order_id }) => !shown.has(order_id))]
  }

  async #hasTrigrams(): Promise<boolean> {
    if (this.#trigrams === undefined) {
      this.#trigrams = await hasTrigrams(this.#sql)
      if (!this.#trigrams) this.#log.warn('the ledger has no pg_trgm: the search forgives no typing errors in notes')
    }
    return this.#trigrams
  }
}

/** As a word of a tsquery. */
const quoted = (word: string) => `'${word.replaceAll(/['\\\\]/g, '$&$&')}'`

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const isAfter = (one: Found, after: Found) =>
  one.rank > after.rank || (one.rank === after.rank && one.order_id < after.order_id)

function cursorOf(after: string | undefined): Found | undefined {
  if (after === undefined) return undefined
  const [, rank, order_id] = /^(\d+(?:\.\d+)?)_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(after) ?? []
  if (rank === undefined || order_id === undefined)
    throw new ProblemError(invalidField('after', 'the next of the page before is required'))
  return { rank: Number(rank), order_id }
}
