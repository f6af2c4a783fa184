/** Invitations: codes imported by an operator, or links that the origin has signed; and who came in by them. */
import { hash } from 'node:crypto'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { audit } from '../operators/audit.ts'

export interface Invitation {
  readonly code: string
  /** How many visitors may come in by it. */
  readonly uses: number
}

export interface Redemption {
  readonly code: string
  readonly visitor: string
  /** The uses of a signed link, which is stored when the first visitor comes in by it; null for a code. */
  readonly uses: number | null
}

export type RedeemVerdict = 'redeemed' | 'used_up' | 'unknown'

/** People type codes, in capitals or not; a stolen ledger shows none. */
const hashOf = (saleId: string, code: string) => hash('sha256', `${saleId} ${code.toUpperCase()}`, 'base64url')

/** Rows in one statement of an import. */
const IMPORT_BATCH = 5_000

/**
 * Imports codes in one transaction: all of them, or none when the source throws. A code that is there keeps its visitors and
 * has the new number of uses; with `replace` all others are gone. Returns how many came.
 */
export async function importInvitations(
  sql: Sql,
  saleId: string,
  source: AsyncIterable<Invitation>,
  { replace, operator }: { replace: boolean; operator: string },
): Promise<number> {
  return sql.begin(async (tx) => {
    await tx`create temporary table imported (code_hash text primary key, uses int not null) on commit drop`
    let rows = 0
    let batch: Invitation[] = []
    const flush = async () => {
      rows += batch.length
      await insertImported(tx, saleId, batch)
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

/** Codes that one statement goes through: a million at once would take longer than any statement may. */
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
        and not exists (select from imported where imported.code_hash = i.code_hash)`
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

async function insertImported(tx: Queryable, saleId: string, batch: readonly Invitation[]): Promise<void> {
  const hashes = batch.map(({ code }) => hashOf(saleId, code))
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

/** Lets visitors in, each by their invitation; a verdict each, in their order. */
export async function redeem(sql: Sql, saleId: string, batch: readonly Redemption[]): Promise<RedeemVerdict[]> {
  const hashes = batch.map(({ code }) => hashOf(saleId, code))
  const [row] = await sql<{ verdicts: RedeemVerdict[] }[]>`
    select redeem_batch(${saleId}, ${hashes}::text[], ${batch.map(({ visitor }) => visitor)}::text[],
      ${batch.map(({ uses }) => uses)}::int[]) as verdicts`
  return row?.verdicts ?? []
}
