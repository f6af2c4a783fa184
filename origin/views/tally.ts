/** Adds up decisions to the rows of the counts, before anything is written. Pure. */

import { OTHER_SOURCE } from '../../shared/api/source.ts'
import type { ViewEvent } from '../../shared/api/views.ts'
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
/** In an hour of a sale, each part of the log names at most this many keys of a kind; the others are one. */
const MAX_KEYS = 200
export const UNKNOWN = 'unknown'

/** The keys that are named, by hour, sale and kind. */
export type NamedKeys = RecentMap<string, Set<string>>
export const newKeys = (): NamedKeys => new RecentMap(4_000)

/** The network by its number, or the one around the address where no number is known. */
export const networkKey = ({ asn, network }: Pick<ViewEvent, 'asn' | 'network'>) =>
  asn === null ? network || UNKNOWN : `AS${asn}`

/** The key of a view in each kind of counts. */
export function keysOf(view: ViewEvent, named: NamedKeys): Readonly<Record<(typeof KEYED)[number], string>> {
  const hour = Math.floor(view.at_ms / HOUR_MS)
  const bounded = (by: By, key: string) => {
    const keys = named.getOrAdd(`${hour} ${view.sale} ${by}`, () => new Set())
    if (keys.size < MAX_KEYS) keys.add(key)
    return keys.has(key) ? key : OTHER_SOURCE
  }
  return {
    page: view.page,
    source: bounded('source', view.source),
    country: view.country ?? UNKNOWN,
    device: view.device,
    language: view.language ?? UNKNOWN,
    network: bounded('network', networkKey(view)),
  }
}

export class Tally {
  readonly #rows = new Map<string, CountRow>()
  readonly #named: NamedKeys
  /** The visitors of counted views: by sale, day, kind and key. */
  readonly visitors = new Map<string, Set<string>>()

  constructor(named: NamedKeys) {
    this.#named = named
  }

  get rows(): readonly CountRow[] {
    return [...this.#rows.values()]
  }

  add(decision: Decision): void {
    const { view } = decision
    const keys = { total: '', ...keysOf(view, this.#named) }
    const atMs = decision.kind === 'seen' ? decision.atMs : view.at_ms
    const counted = decision.kind === 'counted' ? 1 : 0
    const dropped = decision.kind === 'dropped' ? 1 : decision.kind === 'undropped' ? -1 : 0
    const seconds = decision.kind === 'seen' ? decision.seconds : 0
    for (const [by, key] of Object.entries(keys) as [By, string][]) {
      this.#add(view.sale, atMs, by, key, { counted, dropped, seconds })
      if (counted > 0) this.#visit(view, by, key)
    }
    if ('rule' in decision) this.#add(view.sale, atMs, 'rule', decision.rule, { counted, dropped, seconds })
  }

  #add(
    sale: string | null,
    atMs: number,
    by: By,
    key: string,
    by_: Readonly<Pick<CountRow, 'counted' | 'dropped' | 'seconds'>>,
  ): void {
    const minute = new Date(Math.floor(atMs / MINUTE_MS) * MINUTE_MS).toISOString()
    const name = `${sale}\n${minute}\n${by}\n${key}`
    let row = this.#rows.get(name)
    if (!row) {
      row = { sale_id: sale ?? '', minute, by, key, counted: 0, dropped: 0, seconds: 0 }
      this.#rows.set(name, row)
    }
    row.counted += by_.counted
    row.dropped += by_.dropped
    row.seconds += by_.seconds
  }

  #visit(view: ViewEvent, by: By, key: string): void {
    const day = new Date(view.at_ms).toISOString().slice(0, 10)
    const name = uniquesKey(view.sale ?? '', day, by, key)
    const visitors = this.visitors.get(name) ?? new Set()
    this.visitors.set(name, visitors)
    visitors.add(view.pseudonym)
  }
}

/** The key in Redis of the visitors of a day. Keys of one sale are on one node of a Cluster. */
export const uniquesKey = (saleId: string, day: string, by: By, key: string) =>
  `{${saleId}}:views:${day}:${by}${key === '' ? '' : `:${key}`}`
