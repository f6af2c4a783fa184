/** Adds up decisions to the rows of the counts, before anything is written. Pure. */

import { OTHER_SOURCE } from '../../shared/api/views/source.ts'
import { HEARTBEAT_SECONDS, type ViewEvent } from '../../shared/api/views/view-events.ts'
import { RecentMap } from '../../shared/lib/recent-map.ts'
import type { Decision } from './count.ts'

export const KEYED = ['page', 'source', 'country', 'device', 'language', 'network'] as const
export type By = 'total' | 'rule' | (typeof KEYED)[number]

export interface CountRow {
  readonly sale_id: string
  readonly minute: string
  readonly by: By
  readonly key: string
  counted: number
  dropped: number
  seconds: number
}

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** In an hour of a sale, each part of the log names at most this many keys of a kind; the others are one. */
const MAX_KEYS = 200
const UNKNOWN = 'unknown'

/** The keys that are named, by hour, sale and kind. */
export type NamedKeys = RecentMap<string, Set<string>>
export const newKeys = (): NamedKeys => new RecentMap(4_000)

/** The network by its number, or the one around the address where no number is known. */
export const networkKey = ({ asn, network }: Pick<ViewEvent, 'asn' | 'network'>) =>
  asn === null ? network || UNKNOWN : `AS${asn}`

/** The key of a view in each kind of counts. */
function keysOf(view: ViewEvent, named: NamedKeys): Readonly<Record<(typeof KINDS)[number], string>> {
  const hour = Math.floor(view.at_ms / HOUR_MS)
  const bounded = (by: By, key: string) => {
    const keys = named.getOrAdd(`${hour} ${view.sale} ${by}`, () => new Set())
    if (keys.size < MAX_KEYS) keys.add(key)
    return keys.has(key) ? key : OTHER_SOURCE
  }
  return {
    total: '',
    page: view.page,
    source: bounded('source', view.source),
    country: view.country ?? UNKNOWN,
    device: view.device,
    language: view.language ?? UNKNOWN,
    network: bounded('network', networkKey(view)),
  }
}

const KINDS = ['total', ...KEYED] as const
type ByKind<T> = Readonly<Record<By, Map<string, T>>>
const byKind = <T>() => Object.fromEntries([...KINDS, 'rule'].map((by) => [by, new Map()])) as unknown as ByKind<T>

interface Group<T> {
  readonly sale: string
  readonly span: number
  readonly of: T
}

/**
 * What belongs to one sale in one span of time. The events of a page of the log are of few such groups, and most follow
 * one of the same group.
 */
class Groups<T> {
  readonly #make: () => T
  readonly #bySpan = new Map<number, Map<string, Group<T>>>()
  #latest: Group<T> | undefined

  constructor(make: () => T) {
    this.#make = make
  }

  of(sale: string, span: number): T {
    const latest = this.#latest?.sale === sale && this.#latest.span === span ? this.#latest : this.#find(sale, span)
    this.#latest = latest
    return latest.of
  }

  #find(sale: string, span: number): Group<T> {
    const bySale = getOrAdd(this.#bySpan, span, () => new Map<string, Group<T>>())
    return getOrAdd(bySale, sale, () => ({ sale, span, of: this.#make() }))
  }

  all(): Group<T>[] {
    return [...this.#bySpan.values()].flatMap((bySale) => [...bySale.values()])
  }
}

export class Tally {
  readonly #rows = new Groups(byKind<CountRow>)
  readonly #visitors = new Groups(byKind<Set<string>>)
  readonly #pages = new Groups(() => new Set<string>())
  readonly #named: NamedKeys

  constructor(named: NamedKeys) {
    this.#named = named
  }

  get rows(): readonly CountRow[] {
    return this.#rows.all().flatMap(({ of }) => Object.values(of).flatMap((rows) => [...rows.values()]))
  }

  /** The visitors of counted views, by the names of `uniquesKey`. */
  get visitors(): ReadonlyMap<string, ReadonlySet<string>> {
    const named = this.#visitors.all().flatMap(({ sale, span, of }) => {
      const day = new Date(span * DAY_MS).toISOString().slice(0, 10)
      return KINDS.flatMap((by) => [...of[by]].map(([key, names]) => [uniquesKey(sale, day, by, key), names] as const))
    })
    return new Map(named)
  }

  /** The counted views whose page was seen, by the names of `pagesKey`. */
  get pages(): ReadonlyMap<string, ReadonlySet<string>> {
    return new Map(this.#pages.all().map(({ sale, span, of }) => [pagesKey(sale, span), of]))
  }

  add(decision: Decision): void {
    const { view, kind } = decision
    const sale = view.sale ?? ''
    const keys = keysOf(view, this.#named)
    const atMs = kind === 'seen' ? decision.atMs : view.at_ms
    const minute = Math.floor(atMs / MINUTE_MS)
    for (const by of KINDS) count(this.#rowOf(sale, minute, by, keys[by]), decision)
    if ('rule' in decision) count(this.#rowOf(sale, minute, 'rule', decision.rule), decision)
    if (kind === 'counted' || kind === 'seen') this.#pages.of(sale, beatOf(atMs)).add(view.view)
    if (kind !== 'counted') return
    const visitors = this.#visitors.of(sale, Math.floor(view.at_ms / DAY_MS))
    for (const by of KINDS) getOrAdd(visitors[by], keys[by], () => new Set()).add(view.pseudonym)
  }

  #rowOf(sale: string, minute: number, by: By, key: string): CountRow {
    return getOrAdd(this.#rows.of(sale, minute)[by], key, () => {
      const from = new Date(minute * MINUTE_MS).toISOString()
      return { sale_id: sale, minute: from, by, key, counted: 0, dropped: 0, seconds: 0 }
    })
  }
}

function count(row: CountRow, decision: Decision): void {
  switch (decision.kind) {
    case 'counted':
      row.counted++
      return
    case 'dropped':
      row.dropped++
      return
    case 'undropped':
      row.dropped--
      return
    case 'seen':
      row.seconds += decision.seconds
  }
}

function getOrAdd<Key, T>(map: Map<Key, T>, key: Key, make: () => T): T {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}

/** The time between two heartbeats in which something was: each page that is seen has one beacon in each. */
export const beatOf = (atMs: number) => Math.floor(atMs / (1000 * HEARTBEAT_SECONDS))

/** The key in Redis of the pages that were seen in the time of a heartbeat. */
export const pagesKey = (saleId: string, beat: number) => `{${saleId}}:views:pages:${beat}`

/** The key in Redis of the visitors of a day. Keys of one sale are on one node of a Cluster. */
export const uniquesKey = (saleId: string, day: string, by: By, key: string) =>
  `{${saleId}}:views:${day}:${by}${key === '' ? '' : `:${key}`}`
