/**
 * Counts the joins and turns of each sale by the label of their source, for its funnel. They are gathered in memory and
 * written once a second, all sales in one statement. A process that dies loses the counts of its last second.
 */
import { OTHER_SOURCE, TYPED } from '../../shared/api/views/source.ts'
import type { Sql } from '../ledger/connection.ts'
import { type Actor, type LoopDeps, writingLoop } from '../lib/loop.ts'

const WRITE_MS = 1_000
/** A sale has at most about this many sources; those that come later count as `other`. Anybody can make up more. */
const MAX_SOURCES = 200
/** Sources of all sales that wait for the ledger; further ones count as `other` of their sale. */
const MAX_WAITING = 5_000

type Step = 'joined' | 'turns'
type Counted = { readonly sale: string; readonly source: string } & Record<Step, number>

export class SourceCounts {
  readonly #sql: Sql
  #counted = new Map<string, Counted>()
  readonly actor: Actor

  constructor({ sql, ...deps }: LoopDeps & { readonly sql: Sql }) {
    this.#sql = sql
    this.actor = writingLoop('source counts', WRITE_MS, deps, () => this.#write())
  }

  count(sale: string, source: string = TYPED, step: Step, by = 1): void {
    const label = this.#counted.size < MAX_WAITING || this.#counted.has(keyOf(sale, source)) ? source : OTHER_SOURCE
    const key = keyOf(sale, label)
    const counted = this.#counted.get(key) ?? { sale, source: label, joined: 0, turns: 0 }
    counted[step] += by
    this.#counted.set(key, counted)
  }

  async #write(): Promise<void> {
    if (this.#counted.size === 0) return
    const rows = [...this.#counted.values()]
    this.#counted = new Map()
    try {
      await addSources(this.#sql, rows)
    } catch (error) {
      for (const { sale, source, joined, turns } of rows) {
        this.count(sale, source, 'joined', joined)
        this.count(sale, source, 'turns', turns)
      }
      throw error
    }
  }
}

const keyOf = (sale: string, source: string) => `${sale} ${source}`

/** The rows are sorted, because several processes add at the same time and a different order would deadlock. */
async function addSources(sql: Sql, rows: readonly Counted[]): Promise<void> {
  const column = <K extends keyof Counted>(key: K) => rows.map((row) => row[key])
  await sql`
    insert into sale_sources as s (sale_id, source, joined, turns)
    select c.sale, k.source, sum(c.joined), sum(c.turns)
    from unnest(${column('sale')}::text[], ${column('source')}::text[], ${column('joined')}::bigint[],
      ${column('turns')}::bigint[]) as c(sale, source, joined, turns)
    cross join lateral (select case
      when c.source = ${TYPED} or exists (select from sale_sources o where o.sale_id = c.sale and o.source = c.source)
        or (select count(*) from sale_sources o where o.sale_id = c.sale) < ${MAX_SOURCES}
      then c.source else ${OTHER_SOURCE} end as source) k
    group by 1, 2 order by 1, 2
    on conflict (sale_id, source) do update set joined = s.joined + excluded.joined, turns = s.turns + excluded.turns`
}
