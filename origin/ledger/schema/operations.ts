/** Problems, changes, and the operators who make them. */
import { sql } from 'drizzle-orm'
import { bigserial, boolean, check, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import type { Role } from '../../../shared/api/operators/roles.ts'
import { instant } from './columns.ts'

/** Problems found by the system, one open row per problem. */
export const findings = pgTable(
  'findings',
  {
    finding_id: bigserial({ mode: 'number' }).primaryKey(),
    sale_id: text().notNull(),
    /** Empty if it concerns no single product. */
    product_id: text().notNull(),
    /** FindingKind in findings.ts. */
    kind: text().notNull(),
    /** Tells several findings of one kind and product apart. */
    subject: text().notNull().default(''),
    units: integer().notNull().default(0),
    detail: jsonb(),
    first_seen_at: instant().notNull().defaultNow(),
    last_seen_at: instant().notNull().defaultNow(),
    seen: integer().notNull().default(1),
    closed_at: instant(),
    /** How it ended: healed, or by a policy. */
    outcome: text(),
  },
  (t) => [
    uniqueIndex('one_open_finding').on(t.sale_id, t.product_id, t.kind, t.subject).where(sql`closed_at is null`),
    index('findings_of_sale').on(t.sale_id, t.finding_id),
  ],
)

/** The severity from which a channel hears of findings, where an owner has decided. */
export const alertChannels = pgTable('alert_channels', {
  channel: text().primaryKey(),
  level: text().notNull(),
})

/** The newest release that has migrated this ledger: its functions are in force. */
export const ledgerRelease = pgTable(
  'ledger_release',
  {
    one: boolean().primaryKey().default(true),
    release: text().notNull(),
    migrated_at: instant().notNull(),
  },
  (t) => [check('ledger_release_is_one', sql`${t.one}`)],
)

/** What operators and the reconciler changed; written in the transaction of the change. */
export const auditLog = pgTable(
  'audit_log',
  {
    entry_id: bigserial({ mode: 'number' }).primaryKey(),
    at: instant().notNull().defaultNow(),
    actor: text().notNull(),
    action: text().notNull(),
    sale_id: text().notNull(),
    product_id: text(),
    order_id: uuid(),
    /** The Idempotency-Key of the operator's call, where a repeated call must find its first effect by this entry. */
    idempotency_key: text(),
    before: jsonb(),
    after: jsonb(),
  },
  (t) => [
    index('audit_of_sale').on(t.sale_id, t.entry_id),
    uniqueIndex('one_entry_per_key')
      .on(t.sale_id, t.product_id, t.action, t.idempotency_key)
      .where(sql`idempotency_key is not null`),
    index('audit_of_order').on(t.order_id).where(sql`order_id is not null`),
  ],
)

/** Operators with a key. Operators who sign in by OpenID Connect have no row: their role comes with their session. */
export const operators = pgTable('operators', {
  operator: text().primaryKey(),
  role: text().$type<Role>().notNull(),
  /** SHA-256 of the key. */
  key_hash: text().notNull().unique(),
  created_at: instant().notNull().defaultNow(),
  revoked_at: instant(),
})

/**
 * The owner of each name among those who sign in by OpenID Connect. A person is an issuer and their `sub`, and may
 * choose the name.
 */
export const signInNames = pgTable(
  'sign_in_names',
  {
    operator: text().primaryKey(),
    issuer: text().notNull(),
    sub: text().notNull(),
  },
  (t) => [index('names_of_identity').on(t.issuer, t.sub)],
)

/** Operators signed in to the console in a browser. */
export const operatorSessions = pgTable(
  'operator_sessions',
  {
    /** SHA-256 of the cookie. */
    session_hash: text().primaryKey(),
    operator: text().notNull(),
    role: text().$type<Role>().notNull(),
    /** True: by a row of operators, whose revocation ends the session. */
    by_key: boolean().notNull(),
    created_at: instant().notNull().defaultNow(),
    expires_at: instant().notNull(),
  },
  (t) => [index('sessions_by_end').on(t.expires_at)],
)

/** While payment cannot be taken, one row: since when the clock of all holds stands still (`hold_clock`). */
export const holdPauses = pgTable(
  'hold_pauses',
  {
    one: boolean().primaryKey().default(true),
    began_at: instant().notNull(),
  },
  (t) => [check('one_row', sql`${t.one}`)],
)
