/**
 * Decides in the ledger who may join: the rules of sales, the blocks of all sales, and invitations with the visitors
 * who used them.
 */
import { type BlockConfig, MAX_BLOCKS, MAX_RULES, type RuleConfig } from '../../shared/api/access.ts'
import { ProblemError, problem } from '../../shared/problem.ts'
import { ALL_SALES, audit } from '../ledger/audit.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { blocks } from '../ledger/schema/access.ts'

export type Block = Readonly<typeof blocks.$inferSelect>

const tooMany = (what: string) => new ProblemError(problem('conflict', { detail: `There are ${what} already.` }))

/** Adds a rule after the existing ones and returns its id. */
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

/** Returns false if the sale has no such rule. */
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

/** The number of visitors that matched a rule of a sale. */
export interface Met {
  readonly sale: string
  readonly rule: string
  readonly many: number
}

/** Adds the edge's reports to the counters of the rules. */
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

/** The version of the blocks. Every change of them replaces it. */
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

/**
 * The block as the audit log shows it, without the visitor, because the log has a longer retention than personal
 * data.
 */
const inAudit = ({ block_id, visitor, account, note }: Block) => ({
  block: String(block_id),
  by: visitor !== null ? 'visitor' : account !== null ? 'account' : 'address',
  note,
})

// -- Invitations: codes imported by an operator, or links that the origin has signed --------------------------------

export interface Invitation {
  readonly code: string
  /** The number of visitors who may use the invitation. */
  readonly uses: number
}

/** The hashes under which an invitation may be stored: of the first key, then of earlier keys. */
type Hashes = readonly [first: string, ...earlier: string[]]

export interface Redemption {
  readonly hashes: Hashes
  readonly visitor: string
  /** The number of uses of a signed link, which is stored when the first visitor uses it; null for a code. */
  readonly uses: number | null
}

export type RedeemVerdict = 'redeemed' | 'used_up' | 'unknown'

/** The hash under which each invitation is stored: an existing one of an earlier key, or the one of the first key. */
async function storedHashes(sql: Queryable, saleId: string, candidates: readonly Hashes[]): Promise<string[]> {
  const earlier = candidates.flatMap(([, ...others]) => others)
  const rows = await sql<{ hash: string }[]>`
    select code_hash as hash from invitations where sale_id = ${saleId} and code_hash = any(${earlier}::text[])`
  const stored = new Set(rows.map(({ hash }) => hash))
  return candidates.map((hashes) => hashes.find((hash) => stored.has(hash)) ?? hashes[0])
}

/** One statement of an import writes this many rows. */
const IMPORT_BATCH = 5_000

/**
 * Imports codes in one transaction: all of them, or none if the source throws. An existing code keeps its visitors
 * and gets the new number of uses; `replace` deletes all other codes, but no links. Returns the number of rows
 * imported.
 */
export async function importInvitations(
  sql: Sql,
  saleId: string,
  source: AsyncIterable<Invitation>,
  { replace, operator, hashesOf }: { replace: boolean; operator: string; hashesOf: (code: string) => Hashes },
): Promise<number> {
  return sql.begin(async (tx) => {
    await tx`create temporary table imported (code_hash text primary key, uses int not null) on commit drop`
    const [sale] = await tx<{ has_codes: boolean }[]>`
      select exists (select from invitations where sale_id = ${saleId} and not is_link) as has_codes`
    let rows = 0
    let batch: Invitation[] = []
    const flush = async () => {
      rows += batch.length
      const candidates = batch.map(({ code }) => hashesOf(code))
      const hashes = sale?.has_codes ? await storedHashes(tx, saleId, candidates) : candidates.map(([first]) => first)
      await insertImported(tx, hashes, batch)
      batch = []
    }
    for await (const invitation of source) if (batch.push(invitation) === IMPORT_BATCH) await flush()
    await flush()
    await tx`analyze imported`
    if (replace) await removeOthers(tx, saleId)
    await mergeImported(tx, saleId)
    const after = { imported: rows, replace }
    await audit(tx, [{ actor: operator, action: 'invitations imported', sale: saleId, after }])
    return rows
  })
}

/** One statement scans this many codes, because a million at once would exceed the time limit of a statement. */
const RANGE = 50_000

async function removeOthers(tx: Queryable, saleId: string): Promise<void> {
  for (let after = '', last: string | null; ; after = last) {
    const [range] = await tx<{ last: string | null }[]>`
      select max(code_hash) as last from (
        select code_hash from invitations where sale_id = ${saleId} and code_hash > ${after}
        order by code_hash limit ${RANGE}
      ) range`
    last = range?.last ?? null
    if (last === null) return
    await tx`
      delete from invitations i where sale_id = ${saleId} and code_hash > ${after} and code_hash <= ${last}
        and not is_link and not exists (select from imported where imported.code_hash = i.code_hash)`
  }
}

/** Unchanged codes are not written, since a lock on a code delays the visitors who redeem it. */
async function mergeImported(tx: Queryable, saleId: string): Promise<void> {
  for (let after = '', last: string | null; ; after = last) {
    const [range] = await tx<{ last: string | null }[]>`
      select max(code_hash) as last from (
        select code_hash from imported where code_hash > ${after} order by code_hash limit ${RANGE}
      ) range`
    last = range?.last ?? null
    if (last === null) return
    await tx`
      insert into invitations as i (sale_id, code_hash, uses)
      select ${saleId}, n.code_hash, n.uses
      from imported n left join invitations o on o.sale_id = ${saleId} and o.code_hash = n.code_hash
      where n.code_hash > ${after} and n.code_hash <= ${last} and o.uses is distinct from greatest(n.uses, o.used)
      on conflict (sale_id, code_hash) do update set uses = greatest(excluded.uses, i.used)`
  }
}

async function insertImported(tx: Queryable, hashes: string[], batch: readonly Invitation[]): Promise<void> {
  await tx`
    insert into imported
    select distinct on (hash) hash, uses
    from unnest(${hashes}::text[], ${batch.map(({ uses }) => uses)}::int[]) with ordinality as t (hash, uses, place)
    order by hash, place desc
    on conflict (code_hash) do update set uses = excluded.uses`
}

interface InvitationCounts {
  readonly invitations: number
  readonly uses: number
  readonly used: number
}

export async function countInvitations(sql: Sql, saleId: string): Promise<InvitationCounts> {
  const [row] = await sql<InvitationCounts[]>`
    select count(*) as invitations, coalesce(sum(uses), 0)::bigint as uses, coalesce(sum(used), 0)::bigint as used
    from invitations where sale_id = ${saleId}`
  return row ?? { invitations: 0, uses: 0, used: 0 }
}

/** Redeems one invitation for each visitor, and returns the results in the same order. */
export async function redeem(sql: Sql, saleId: string, batch: readonly Redemption[]): Promise<RedeemVerdict[]> {
  const hashes = await storedHashes(
    sql,
    saleId,
    batch.map((one) => one.hashes),
  )
  const [row] = await sql<{ verdicts: RedeemVerdict[] }[]>`
    select redeem_batch(${saleId}, ${hashes}::text[], ${batch.map(({ visitor }) => visitor)}::text[],
      ${batch.map(({ uses }) => uses)}::int[]) as verdicts`
  return row?.verdicts ?? []
}

/**
 * Declares all links of a sale void that were signed before this time. A time in the future counts as now. Returns
 * the time that applies.
 */
export function voidLinks(sql: Sql, saleId: string, before: Date, operator: string): Promise<Date> {
  return sql.begin(async (tx) => {
    const [row] = await tx<{ was: Date | null; void_before: Date }[]>`
      update sales s set links_void_before = greatest(s.links_void_before, least(${before}, clock_timestamp()))
      from (select links_void_before from sales where sale_id = ${saleId} for update) was
      where sale_id = ${saleId} returning was.links_void_before as was, s.links_void_before as void_before`
    if (!row) throw new ProblemError(problem('unknown-sale'))
    const [earlier, after] = [{ void_before: row.was }, { void_before: row.void_before }]
    await audit(tx, [{ actor: operator, action: 'links declared void', sale: saleId, before: earlier, after }])
    return row.void_before
  })
}
