/** Operators, and their sessions in browsers. */

import type { Suspension } from '../../shared/api/operators/answers.ts'
import { hasRole, type Operator, type Role } from '../../shared/api/operators/roles.ts'
import { note } from '../findings/finding-queries.ts'
import { ADMIN_NAME, ALL_SALES, audit } from '../ledger/audit.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { operators } from '../ledger/schema/operations.ts'
import type { scheduledActions } from '../ledger/schema/sales.ts'

/** The role that may schedule actions. */
const SCHEDULES: Role = 'operator'

type OperatorRow = Readonly<typeof operators.$inferSelect>

/** Adds an operator, or gives an existing one a new key and role. The old key and all sessions of that name end. */
export async function writeOperator(
  sql: Sql,
  { name, role }: Operator,
  keyHash: string,
  actor = ADMIN_NAME,
): Promise<void> {
  await sql.begin(async (tx) => {
    const [former] = await tx<{ role: Role }[]>`
      select role from operators where operator = ${name} and revoked_at is null for update`
    const before = former && { name, role: former.role }
    await audit(tx, [{ actor, action: 'operator added', sale: ALL_SALES, before, after: { name, role } }])
    await tx`
      insert into operators (operator, role, key_hash) values (${name}, ${role}, ${keyHash})
      on conflict (operator) do update set role = excluded.role, key_hash = excluded.key_hash, revoked_at = null`
    await tx`delete from operator_sessions where operator = ${name}`
    if (!hasRole(role, SCHEDULES)) await suspendActionsOf(tx, name, { by: actor, reason: 'demoted' })
  })
}

/**
 * Revokes a key, ends all sessions of that name (including those of a sign-in service), and suspends the actions that
 * this operator scheduled. Returns false if there was nothing to revoke.
 */
export async function revokeOperator(sql: Sql, name: string, actor = ADMIN_NAME): Promise<boolean> {
  return sql.begin(async (tx) => {
    const revoked = await tx<Operator[]>`
      update operators set revoked_at = clock_timestamp() where operator = ${name} and revoked_at is null
      returning operator as name, role`
    const ended = await tx<Operator[]>`
      delete from operator_sessions where operator = ${name} returning operator as name, role`
    const [before] = [...revoked, ...ended]
    const suspended = await suspendActionsOf(tx, name, { by: actor, reason: 'revoked' })
    if (!before && suspended === 0) return false
    await audit(tx, [{ actor, action: 'operator revoked', sale: ALL_SALES, before: before ?? { name } }])
    return true
  })
}

/**
 * Returns true if the operator was revoked in the last minute, because a process may accept a revoked key for a
 * second. It delays a revocation until the transaction ends.
 */
export async function wasJustRevoked(tx: Queryable, name: string): Promise<boolean> {
  const [row] = await tx<{ just: boolean | null }[]>`
    select revoked_at > clock_timestamp() - interval '1 minute' as just from operators
      where operator = ${name} for share`
  return row?.just === true
}

/**
 * A person's identity at the company's sign-in service: the service and their `sub` there, independent of their name.
 */
export interface Identity {
  readonly issuer: string
  readonly sub: string
}

/**
 * The name of a person in this system: the name that the service gives, or that name with their `sub` if somebody
 * else has it.
 */
export async function nameOf(sql: Sql, { issuer, sub }: Identity, called: string): Promise<string> {
  // No name from the service contains a #, so the second name is free.
  for (const name of [called, `${called}#${encodeURIComponent(sub)}`]) {
    await sql`
      insert into sign_in_names (operator, issuer, sub) select ${name}, ${issuer}, ${sub}
      where not exists (select from operators where operator = ${name}) on conflict do nothing`
    const [own] = await sql`
      select from sign_in_names where operator = ${name} and issuer = ${issuer} and sub = ${sub}`
    if (own) return name
  }
  throw new Error('the name belongs to somebody else')
}

/**
 * Suspends the scheduled actions of a person, under all their names, if they sign in at the service without the role
 * for them and no key gives it to them.
 */
export async function checkSignedIn(sql: Sql, { issuer, sub }: Identity, role: Role | undefined): Promise<void> {
  if (role && hasRole(role, SCHEDULES)) return
  await sql.begin(async (tx) => {
    const names = await tx<{ operator: string }[]>`
      select operator from sign_in_names where issuer = ${issuer} and sub = ${sub} order by operator`
    for (const { operator } of names) {
      const [byKey] = await tx<{ role: Role }[]>`
        select role from operators where operator = ${operator} and revoked_at is null for update`
      if (byKey && hasRole(byKey.role, SCHEDULES)) continue
      await suspendActionsOf(tx, operator, { by: 'sign-in service', reason: 'demoted' })
    }
  })
}

export const listOperators = (sql: Sql) => sql<Pick<OperatorRow, 'operator' | 'role' | 'created_at' | 'revoked_at'>[]>`
  select operator, role, created_at, revoked_at from operators order by operator`

/** The current operators, by the hash of their key. */
export async function readKeys(sql: Sql): Promise<ReadonlyMap<string, Operator>> {
  const rows = await sql<{ key_hash: string; name: string; role: Role }[]>`
    select key_hash, operator as name, role from operators where revoked_at is null`
  return new Map(rows.map(({ key_hash, ...operator }) => [key_hash, operator]))
}

/** Begins a session, and deletes expired ones. */
export async function insertSession(
  sql: Sql,
  sessionHash: string,
  { name, role }: Operator,
  byKey: boolean,
  seconds: number,
): Promise<void> {
  await sql`delete from operator_sessions where expires_at < clock_timestamp()`
  await sql`
    insert into operator_sessions (session_hash, operator, role, by_key, expires_at)
    values (${sessionHash}, ${name}, ${role}, ${byKey}, clock_timestamp() + ${seconds} * interval '1 second')`
}

/** The hashes under which a cookie's session may be stored: its own hash, or that of the admin token's sessions. */
export interface SessionHashes {
  readonly own: string
  readonly admin: readonly string[]
}

/**
 * The operator of each session. A new role or key ends the sessions of its name. A process accepts the old key for a
 * second, so a session begun with it in that second has the current role, or ends with the key.
 */
export async function findSessions(sql: Sql, cookies: readonly SessionHashes[]): Promise<(Operator | undefined)[]> {
  const rows = await sql<{ hash: string; name: string; role: Role }[]>`
    select s.session_hash as hash, s.operator as name, coalesce(o.role, s.role) as role
    from operator_sessions s left join operators o on s.by_key and o.operator = s.operator
    where s.session_hash = any(${cookies.flatMap(({ own, admin }) => [own, ...admin])}::text[])
      and s.expires_at > clock_timestamp() and o.revoked_at is null`
  const found = new Map(rows.map(({ hash, ...operator }) => [hash, operator]))
  return cookies.map(({ own, admin }) => {
    const [ofOwn, ofAdmin] = [found.get(own), admin.map((hash) => found.get(hash)).find(Boolean)]
    return ofAdmin?.name === ADMIN_NAME ? ofAdmin : ofOwn?.name === ADMIN_NAME ? undefined : ofOwn
  })
}

export async function deleteSessions(sql: Sql, hashes: readonly string[]): Promise<void> {
  await sql`delete from operator_sessions where session_hash = any(${hashes as string[]})`
}

/** Suspends all actions of an operator who may no longer schedule them, each with a finding. Returns their number. */
async function suspendActionsOf(
  tx: Queryable,
  operator: string,
  { by, reason }: Pick<Suspension, 'by' | 'reason'>,
): Promise<number> {
  const rows = await tx<(typeof scheduledActions.$inferSelect)[]>`
    update scheduled_actions
    set next_at = null, suspended = jsonb_build_object('by', ${by}::text, 'reason', ${reason}::text,
      'at', to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'due_at', to_char(next_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    where operator = ${operator} and next_at is not null returning *`
  for (const { action_id, sale_id: sale, effect, cron, suspended } of rows) {
    const about = { action_id, ...effect, cron, operator, ...suspended }
    await audit(tx, [{ actor: by, action: 'action suspended', sale, after: about }])
    const product = 'product_id' in effect ? effect.product_id : ''
    await note(tx, { sale, product, kind: 'scheduled_suspended', subject: action_id, units: 0, detail: about })
  }
  return rows.length
}
