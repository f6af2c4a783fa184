/** All pages of the console for its side column: those of a sale, and those of all sales. */
import type { Role } from '../../../../shared/api/operators/roles.ts'
import type { IconName } from '../sheet/icon.tsx'

export interface Entry {
  /** The address; for a page of a sale, only its end. */
  readonly href: string
  readonly text: string
  readonly icon: IconName
  /** The keys that lead there, pressed one after the other. */
  readonly keys?: string
  /** The role that may open it. */
  readonly role?: Role
}

/** The pages of a sale that `main.tsx` routes; the others are pages of all sales with a filter. */
export const SALE_ENTRIES: readonly Entry[] = [
  { href: '', text: 'Live', icon: 'live', keys: 'G L' },
  { href: '/visitors', text: 'Visitors', icon: 'visitors' },
  { href: '/orders', text: 'Orders of the sale', icon: 'orders' },
  { href: '/goods', text: 'Goods', icon: 'box', role: 'operator' },
  { href: '/promo-codes', text: 'Promo codes', icon: 'code' },
  { href: '/hall', text: 'Hall', icon: 'hall' },
  { href: '/feed', text: 'Feed', icon: 'horn' },
  { href: '/invitations', text: 'Invitations', icon: 'mail' },
  { href: '/access', text: 'Rules and blocks', icon: 'rules' },
  { href: '/scheduled', text: 'Scheduled', icon: 'clock' },
  { href: '/edit', text: 'Edit', icon: 'edit', role: 'operator' },
  { href: '/preview', text: 'Preview', icon: 'eye' },
  { href: '/report', text: 'Report', icon: 'report' },
  { href: '/audit', text: 'Audit of the sale', icon: 'note' },
]

/** These pages show all sales, or one of them. */
const FILTERED = ['/orders', '/audit']

/** The address of a sale's page. */
export const saleHref = (sale: string, end: string) =>
  FILTERED.includes(end) ? `/console${end}?sale=${sale}` : `/console/sales/${sale}${end}`

export const ALL_ENTRIES: readonly Entry[] = [
  { href: '/console', text: 'Sales', icon: 'sales', keys: 'G S' },
  { href: '/console/orders', text: 'Orders', icon: 'audit', keys: 'G O' },
  { href: '/console/queues', text: 'Queues', icon: 'queues', keys: 'G Q' },
  { href: '/console/search', text: 'Search', icon: 'search' },
  { href: '/console/webhooks', text: 'Webhooks', icon: 'hooks', keys: 'G W' },
  { href: '/console/findings', text: 'Findings', icon: 'warn' },
  { href: '/console/audit', text: 'Audit', icon: 'note', keys: 'G A' },
  { href: '/console/operators', text: 'Operators', icon: 'people', role: 'owner' },
]

/** The sale to which an address belongs; undefined if it belongs to none. */
export function saleIn(path: string, search: string): string | undefined {
  const sale = /^\/console\/sales\/([^/]+)/.exec(path)?.[1]
  if (sale !== undefined) return sale === 'new' ? undefined : decodeURIComponent(sale)
  const filter = FILTERED.some((end) => path === `/console${end}`) && new URLSearchParams(search).get('sale')
  return filter || undefined
}

/** True if the entry leads to this address, or to a page above it. */
export function isAt(href: string, path: string, search: string): boolean {
  const [at, filter] = href.split('?')
  if (filter !== undefined)
    return path === at && new URLSearchParams(search).get('sale') === filter.slice('sale='.length)
  if (href === '/console') return path === href || path === '/console/sales/new'
  const isFiltered = FILTERED.some((end) => path === `/console${end}`) && saleIn(path, search) !== undefined
  return !isFiltered && (path === href || (href.split('/').length !== 4 && path.startsWith(`${href}/`)))
}
