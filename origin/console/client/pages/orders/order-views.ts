/** The views and filters of the orders, which the address has, and the times they mean. Pure. */
import type { OrderCounts } from '../../../../../shared/api/operators/answers.ts'
import type { OrderStatus } from '../../../../../shared/api/order-status.ts'

export const FILTERS = ['sale', 'product', 'made', 'status', 'problem'] as const
export type Filter = (typeof FILTERS)[number]
export type Search = Readonly<Partial<Record<Filter | 'q', string>>>
/** Shows the orders with these changes of the search; an empty text takes a filter away. */
export type Show = (changes: Search, replace?: boolean) => void

interface View {
  readonly name: string
  /** The statuses, with commas between them; empty for all. */
  readonly status: string
  /** True for the orders that somebody must look at. */
  readonly isProblem?: boolean
}

/** Each order is in one of the views between the first and the last, so their counts add up to all orders. */
export const VIEWS: readonly View[] = [
  { name: 'All', status: '' },
  { name: 'Paid', status: 'confirmed,fulfilled' },
  { name: 'Held', status: 'reserved,paying' },
  { name: 'Expired, cancelled', status: 'expired,cancelled' },
  { name: 'Refunded', status: 'refunded' },
  { name: 'To look at', status: '', isProblem: true },
]

export const STATUS_WORDS: Readonly<Record<Exclude<OrderStatus, 'processing'>, string>> = {
  reserved: 'Held',
  paying: 'Being paid',
  confirmed: 'Paid',
  fulfilled: 'Sent or handed over',
  expired: 'Not paid in time',
  cancelled: 'Cancelled',
  refunded: 'Refunded',
}

/** The filters of an address, without what was typed, in one order. */
export const filtersIn = (params: URLSearchParams): string =>
  new URLSearchParams(FILTERS.flatMap((name) => (params.get(name) ? [[name, params.get(name) ?? '']] : []))).toString()

export const isShown = ({ status, isProblem = false }: View, { status: given = '', problem = '' }: Search) =>
  given === status && isProblem === (problem !== '')

/** How many orders a view has; undefined if nobody has counted them. */
export function countIn({ status, isProblem }: View, { counts, problems }: OrderCounts): number | undefined {
  if (isProblem) return problems ?? undefined
  return counts === null ? undefined : ordersIn(counts, status)
}

/** The orders in these statuses; with an empty text in any. */
export function ordersIn(counts: Readonly<Record<string, number>>, statuses: string): number {
  const wanted = statuses === '' ? null : statuses.split(',')
  return Object.entries(counts).reduce(
    (sum, [status, orders]) => sum + (wanted?.includes(status) === false ? 0 : orders),
    0,
  )
}

// -- When an order was made ----------------------------------------------------------------------------------------

export const MADE_WORDS = {
  today: 'today',
  yesterday: 'yesterday',
  '7d': 'in the last 7 days',
  '30d': 'in the last 30 days',
} as const

interface Times {
  readonly from?: string
  readonly to?: string
}

/** Both days of a time such as `2026-11-01..2026-11-05`, of which one may be left out. */
const DAYS = /^(\d{4}-\d{2}-\d{2})?\.\.(\d{4}-\d{2}-\d{2})?$/

/** The beginning of a day by this browser's clock, so many days later. */
const dayOf = (at: Date, later = 0) => new Date(at.getFullYear(), at.getMonth(), at.getDate() + later).toISOString()

/** The times of `made` as the address has it; both ends are open for a text that means nothing. */
export function timesOf(made: string, now: Date): Times {
  switch (made) {
    case 'today':
      return { from: dayOf(now) }
    case 'yesterday':
      return { from: dayOf(now, -1), to: dayOf(now) }
    case '7d':
      return { from: dayOf(now, -6) }
    case '30d':
      return { from: dayOf(now, -29) }
  }
  const [, first, last] = DAYS.exec(made) ?? []
  const at = (day: string, later: number) => dayOf(new Date(`${day}T00:00:00`), later)
  return { ...(first && { from: at(first, 0) }), ...(last && { to: at(last, 1) }) }
}

/** The time in words that follow "made". */
export function madeInWords(made: string): string {
  const known = (MADE_WORDS as Readonly<Record<string, string>>)[made]
  if (known !== undefined) return known
  const [, first, last] = DAYS.exec(made) ?? []
  if (first && last) return first === last ? `on ${first}` : `from ${first} to ${last}`
  return first ? `from ${first} on` : last ? `until ${last}` : made
}
