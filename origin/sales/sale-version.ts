/**
 * The version of a sale's configuration: a digest of each field that a PUT writes. A call that was made for an
 * earlier version can be refused with the names of the fields that differ by now, whoever changed them and by which
 * call. Pure.
 */
import { hash } from 'node:crypto'
import type { GoodsDocument } from '../../shared/api/goods.ts'
import type { SaleConfig } from '../../shared/api/operators/sale-config.ts'
import type { SaleRow } from '../ledger/sale-row.ts'

/** Each field has this many characters of six bits, so one change in sixteen million remains undetected. */
const DIGITS = 4

const configOf = (sale: SaleRow, goods: GoodsDocument | null) =>
  ({
    name: sale.name,
    names: goods?.names ?? null,
    time_zone: sale.time_zone,
    opens_at: sale.opens_at,
    ends_at: sale.ends_at,
    // The time is that of the response to a GET, which is sent back in a PUT.
    pre_queue_opens_at: sale.pre_queue_opens_at ?? sale.created_at,
    hold_seconds: sale.hold_seconds,
    limit_per_visitor: sale.limit_per_visitor,
    limit_per_order: sale.limit_per_order,
    products: [
      // Sections are written by their own calls, and held and sold units are not configuration.
      sale.products.filter(({ section_type }) => section_type === null).map(({ held, sold, ...product }) => product),
      goods?.products ?? {},
    ],
    admission: [sale.rate_per_second, sale.max_inside],
    oversell_policy: sale.oversell_policy,
    access: sale.access,
    lines: sale.lines,
    expected_visitors: sale.expected_visitors,
    max_unpaid_orders: sale.max_unpaid_orders,
    contact: sale.contact,
    seller: sale.seller,
    tax: sale.tax,
    brand: goods?.brand ?? null,
    fees: sale.fees,
    delivery: sale.delivery,
    venue: goods?.venue ?? null,
    event: goods?.event ?? null,
    indexed: sale.indexed,
    mails: sale.mails,
    payment: sale.payment,
    test: sale.test,
  }) satisfies Record<keyof SaleConfig, unknown>

export const versionOf = (sale: SaleRow, goods: GoodsDocument | null): string =>
  Object.values(configOf(sale, goods))
    .map((value) => hash('sha256', JSON.stringify(value ?? null), 'base64url').slice(0, DIGITS))
    .join('')

/** The names of the fields that differ between two versions; all fields if one is not a valid version. */
export const changedBetween = (sale: SaleRow, earlier: string, now: string): string[] =>
  Object.keys(configOf(sale, null)).filter((_, i) => digestAt(earlier, i) !== digestAt(now, i))

const digestAt = (version: string, i: number) => version.slice(i * DIGITS, (i + 1) * DIGITS)
