/** A sale and a reservation for tests that need only a few of their fields. */

import { randomUUIDv7 } from 'node:crypto'
import type { Reservation } from '../../origin/ledger/record.ts'
import { ONE_LINE } from '../../shared/api/access.ts'
import { NO_DELIVERY } from '../../shared/api/goods.ts'
import type { JoinCounts } from '../../shared/api/internal.ts'
import { DEFAULT_MAILS } from '../../shared/api/mails.ts'
import { NO_CONTACT, type SaleConfig } from '../../shared/api/operators/sale-config.ts'

/** An open sale of one product, in the form of the ledger. */
export const saleOf = (total: number, changes: Partial<SaleConfig> = {}): SaleConfig => ({
  name: 'Test',
  opens_at: new Date().toISOString(),
  ends_at: null,
  pre_queue_opens_at: null,
  hold_seconds: 90,
  limit_per_visitor: 1,
  oversell_policy: 'alarm',
  max_unpaid_orders: 3,
  access: { sign_in: 'optional', invitation: 'off', proof_of_work: null, turnstile: false },
  lines: [...ONE_LINE],
  expected_visitors: null,
  contact: NO_CONTACT,
  seller: null,
  tax: null,
  brand: null,
  fees: [],
  delivery: NO_DELIVERY,
  venue: null,
  names: null,
  time_zone: 'UTC',
  event: null,
  indexed: true,
  mails: [...DEFAULT_MAILS],
  payment: 'provider',
  test: false,
  products: [{ product_id: 'one', name: 'One', unit_price_minor: 1000, currency: 'EUR', total, buffer: 0 }],
  admission: { rate_per_second: 1, max_inside: null },
  ...changes,
})

/** A checkout's request to the gates: one unit, for a visitor without an account. */
export const reservationOf = (sale: string): Reservation => ({
  order: randomUUIDv7(),
  sale,
  product: 'one',
  visitor: 'v',
  line: 'public',
  number: 1,
  quantity: 1,
  key: 'k',
  hash: 'h',
  method: null,
})

/** What the edge counts of those who join, in a state request: nothing but what is given. */
export const joinCounts = (some: Partial<JoinCounts>): string => {
  const none = {
    joins: 0,
    crowded: 0,
    proofs: 0,
    sources: {},
    refusals: {},
    met: {},
    answers: {},
    sessions: {},
    networks: {},
  }
  return JSON.stringify({ ...none, ...some } satisfies JoinCounts)
}
