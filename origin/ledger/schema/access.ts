/** The tables that decide who may join a sale. */
import { sql } from 'drizzle-orm'
import {
  bigint,
  bigserial,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
} from 'drizzle-orm/pg-core'
import type { RuleConfig } from '../../../shared/api/access.ts'
import { instant } from './columns.ts'
import { sales } from './sales.ts'

/** An operator's rules for who joins a sale, looked at in the order of `rule_id`. */
export const rules = pgTable(
  'rules',
  {
    rule_id: bigserial({ mode: 'number' }).primaryKey(),
    sale_id: text()
      .notNull()
      .references(() => sales.sale_id),
    when: jsonb().$type<RuleConfig['when']>().notNull(),
    action: text().$type<RuleConfig['action']>().notNull(),
    note: text().notNull(),
    /** How many joins met it, as the edge has reported. */
    met: bigint({ mode: 'number' }).notNull().default(0),
  },
  (t) => [index('rules_of_sale').on(t.sale_id, t.rule_id)],
)

/** Codes that open a sale, of which only an HMAC is stored; and the signed links that somebody has come in by. */
export const invitations = pgTable(
  'invitations',
  {
    sale_id: text().notNull(),
    code_hash: text().notNull(),
    /** How many visitors may come in by it, and how many have. */
    uses: integer().notNull(),
    used: integer().notNull().default(0),
    is_link: boolean().notNull().default(false),
  },
  (t) => [primaryKey({ columns: [t.sale_id, t.code_hash] }), check('not_overused', sql`used <= uses`)],
)

/** Visitors admitted by an invitation: the same visitor may come again. */
export const invitedVisitors = pgTable(
  'invited_visitors',
  { sale_id: text().notNull(), code_hash: text().notNull(), visitor: text().notNull() },
  (t) => [primaryKey({ columns: [t.sale_id, t.code_hash, t.visitor] })],
)

/** Visitors, accounts and addresses that no sale lets in; one of the three each. */
export const blocks = pgTable('blocks', {
  block_id: bigserial({ mode: 'number' }).primaryKey(),
  visitor: text(),
  account: text(),
  address: text(),
  note: text().notNull(),
  blocked_at: instant().notNull().defaultNow(),
})
