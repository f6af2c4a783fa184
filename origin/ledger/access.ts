/** Rules of sales, and what is blocked in all of them. */
import { type BlockConfig, MAX_BLOCKS, MAX_RULES, type RuleConfig } from '../../shared/api/access.ts'
import { ProblemError, problem } from '../../shared/problem.ts'
import type { Sql } from './connection.ts'
import type { blocks } from './schema.ts'

export type Block = Readonly<typeof blocks.$inferSelect>

const tooMany = (what: string) => new ProblemError(problem('conflict', { detail: `There are ${what} already.` }))

/** Adds a rule after the others; returns its id. */
export async function addRule(sql: Sql, saleId: string, { when, action, note }: RuleConfig): Promise<string> {
  const [row] = await sql<{ rule: string }[]>`
    insert into rules (sale_id, "when", action, note)
    select ${saleId}, ${sql.json(when)}, ${action}, ${note}
    where (select count(*) from rules where sale_id = ${saleId}) < ${MAX_RULES}
    returning rule_id::text as rule`
  if (!row) throw tooMany(`${MAX_RULES} rules`)
  return row.rule
}

/** False if the sale has no such rule. */
export async function changeRule(sql: Sql, saleId: string, rule: string, to: RuleConfig): Promise<boolean> {
  const { count } = await sql`
    update rules set "when" = ${sql.json(to.when)}, action = ${to.action}, note = ${to.note}
    where sale_id = ${saleId} and rule_id::text = ${rule}`
  return count > 0
}

export async function removeRule(sql: Sql, saleId: string, rule: string): Promise<boolean> {
  const { count } = await sql`delete from rules where sale_id = ${saleId} and rule_id::text = ${rule}`
  return count > 0
}

/** So often a rule of a sale was met. */
export interface Met {
  readonly sale: string
  readonly rule: string
  readonly many: number
}

/** Adds to the counters of what rules met, as the edge reports them. */
export async function countMet(sql: Sql, met: readonly Met[]): Promise<void> {
  await sql`
    update rules set met = met + counted.many
    from (select sale, rule, sum(many)::bigint as many
          from unnest(${met.map((m) => m.sale)}::text[], ${met.map((m) => m.rule)}::text[],
                      ${met.map((m) => m.many)}::bigint[]) as one (sale, rule, many)
          group by sale, rule) counted
    where sale_id = counted.sale and rule_id::text = counted.rule`
}

export async function readBlocks(sql: Sql): Promise<Block[]> {
  return sql<Block[]>`select * from blocks order by block_id`
}

/** Differs after every change of the blocks. */
export async function blocksVersion(sql: Sql): Promise<string> {
  const [row] = await sql<{ version: string }[]>`
    select count(*) || ' ' || coalesce(max(block_id), 0) as version from blocks`
  return row?.version ?? ''
}

export async function addBlock(
  sql: Sql,
  { visitor, account, address, note }: Omit<BlockConfig, 'order'>,
): Promise<Block> {
  const [row] = await sql<Block[]>`
    insert into blocks (visitor, account, address, note)
    select ${visitor ?? null}, ${account ?? null}, ${address ?? null}, ${note}
    where (select count(*) from blocks) < ${MAX_BLOCKS}
    returning *`
  if (!row) throw tooMany(`${MAX_BLOCKS} blocks`)
  return row
}

export async function removeBlock(sql: Sql, block: string): Promise<boolean> {
  const { count } = await sql`delete from blocks where block_id::text = ${block}`
  return count > 0
}
