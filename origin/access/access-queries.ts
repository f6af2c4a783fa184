/** Rules of sales, and what is blocked in all of them. */
import { type BlockConfig, MAX_BLOCKS, MAX_RULES, type RuleConfig } from '../../shared/api/access.ts'
import { ProblemError, problem } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import type { blocks } from '../ledger/schema/access.ts'
import { ALL_SALES, audit } from '../operators/audit.ts'

export type Block = Readonly<typeof blocks.$inferSelect>

const tooMany = (what: string) => new ProblemError(problem('conflict', { detail: `There are ${what} already.` }))

/** Adds a rule after the others; returns its id. */
export function addRule(sql: Sql, saleId: string, added: RuleConfig, operator: string): Promise<string> {
  const { when, action, note } = added
  return sql.begin(async (tx) => {
    const [row] = await tx<{ rule: string }[]>`
      insert into rules (sale_id, "when", action, note)
      select ${saleId}, ${tx.json(when)}, ${action}, ${note}
      where (select count(*) from rules where sale_id = ${saleId}) < ${MAX_RULES}
      returning rule_id::text as rule`
    if (!row) throw tooMany(`${MAX_RULES} rules`)
    const after = { rule: row.rule, ...added }
    await audit(tx, [{ actor: operator, action: 'rule added', sale: saleId, after }])
    return row.rule
  })
}

/** False if the sale has no such rule. */
export function changeRule(sql: Sql, saleId: string, rule: string, to: RuleConfig, operator: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    const [before] = await tx`
      select rule_id::text as rule, "when", action, note from rules
      where sale_id = ${saleId} and rule_id::text = ${rule} for update`
    if (!before) return false
    const { when, action, note } = to
    await tx`
      update rules set "when" = ${tx.json(when)}, action = ${action}, note = ${note}
      where sale_id = ${saleId} and rule_id::text = ${rule}`
    const after = { rule, when, action, note }
    await audit(tx, [{ actor: operator, action: 'rule changed', sale: saleId, before, after }])
    return true
  })
}

export function removeRule(sql: Sql, saleId: string, rule: string, operator: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    const [before] = await tx`
      delete from rules where sale_id = ${saleId} and rule_id::text = ${rule}
      returning rule_id::text as rule, "when", action, note`
    if (before) await audit(tx, [{ actor: operator, action: 'rule removed', sale: saleId, before }])
    return before !== undefined
  })
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

export function addBlock(
  sql: Sql,
  { visitor, account, address, note }: Omit<BlockConfig, 'order'>,
  operator: string,
): Promise<Block> {
  return sql.begin(async (tx) => {
    const [row] = await tx<Block[]>`
      insert into blocks (visitor, account, address, note)
      select ${visitor ?? null}, ${account ?? null}, ${address ?? null}, ${note}
      where (select count(*) from blocks) < ${MAX_BLOCKS}
      returning *`
    if (!row) throw tooMany(`${MAX_BLOCKS} blocks`)
    await audit(tx, [{ actor: operator, action: 'block added', sale: ALL_SALES, after: inAudit(row) }])
    return row
  })
}

export function removeBlock(sql: Sql, block: string, operator: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    const [row] = await tx<Block[]>`delete from blocks where block_id::text = ${block} returning *`
    if (row) await audit(tx, [{ actor: operator, action: 'block removed', sale: ALL_SALES, before: inAudit(row) }])
    return row !== undefined
  })
}

/** Without names: the audit log is kept longer than personal data. */
const inAudit = ({ block_id, visitor, account, note }: Block) => ({
  block: String(block_id),
  by: visitor !== null ? 'visitor' : account !== null ? 'account' : 'address',
  note,
})
