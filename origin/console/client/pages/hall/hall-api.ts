/** The operators' calls for a hall: its chart, holders of seats, blocks, moves, the box office and imports. */
import type { ChartDocument } from '../../../../../shared/api/hall.ts'
import type { AsJson } from '../../../../../shared/api/operators/answers.ts'
import type {
  HallState as HallAnswer,
  SeatImport,
  SeatOwner,
  SectionConfig,
} from '../../../../../shared/api/operators/hall-admin.ts'
import type { CheckoutLine, Order } from '../../../../../shared/api/public.ts'
import { send } from '../../api.ts'

export type HallState = AsJson<HallAnswer>

/**
 * The changes that an import would make, and the reasons why it cannot: wrong lines, and missing seats that are held
 * or sold.
 */
export interface ImportPreview extends SeatImport {
  /** The first errors; `error_count` is the number of all. */
  readonly errors: readonly { readonly field: string; readonly detail: string }[]
  readonly error_count: number
  /** The first seats; `seat_count` is the number of all. */
  readonly seats: readonly string[]
  readonly seat_count: number
}

export interface BoxOfficeSale {
  readonly lines: readonly CheckoutLine[]
  readonly note?: string
  readonly contact?: { readonly email: string }
}

export type SoldOrder = Pick<Order, 'order_id' | 'total_minor' | 'currency' | 'lines'>

const part = encodeURIComponent
const ofSale = (sale: string) => `/admin/sales/${part(sale)}`
const ofSection = (sale: string, section: string) => `${ofSale(sale)}/sections/${part(section)}`

async function call<T>(method: string, path: string, json?: object, headers: Record<string, string> = {}): Promise<T> {
  const body = json === undefined ? {} : { body: JSON.stringify(json) }
  const type = json === undefined ? {} : { 'content-type': 'application/json' }
  const response = await send(path, { method, headers: { ...type, ...headers }, ...body })
  return response.status === 204 ? (undefined as T) : response.json()
}

export const readHall = (sale: string) => call<HallState>('GET', `${ofSale(sale)}/hall`)
export const readChart = (sale: string) => call<ChartDocument>('GET', `${ofSale(sale)}/chart`)
export const readHolder = (sale: string, section: string, seat: string) =>
  call<AsJson<SeatOwner>>('GET', `${ofSale(sale)}/hall/seats/${part(section)}/${part(seat)}`)

export const putSection = (sale: string, section: string, config: SectionConfig) =>
  call<unknown>('PUT', ofSection(sale, section), config)
export const deleteSection = (sale: string, section: string) => call<unknown>('DELETE', ofSection(sale, section))

const CSV = { 'content-type': 'text/csv' }

/** Checks an import without changing anything. */
export async function previewSeats(sale: string, section: string, csv: Blob): Promise<ImportPreview> {
  const path = `${ofSection(sale, section)}/seats?preview=true`
  return (await send(path, { method: 'PUT', headers: CSV, body: csv })).json()
}

/** Imports all seats of the section, or none of them. What the preview named as changing for buyers is confirmed. */
export async function putSeats(sale: string, section: string, csv: Blob, isConfirmed: boolean): Promise<SeatImport> {
  const path = `${ofSection(sale, section)}/seats${isConfirmed ? '?confirm=true' : ''}`
  return (await send(path, { method: 'PUT', headers: CSV, body: csv })).json()
}

/** Blocks or releases seats of one section. A block with a time ends by itself. */
export const setBlocked = (
  sale: string,
  section_id: string,
  seats: readonly string[],
  {
    reason,
    until,
    isBlock,
  }: { readonly reason: string; readonly until?: string | undefined; readonly isBlock: boolean },
) =>
  call<unknown>('POST', `${ofSale(sale)}/seats/${isBlock ? 'block' : 'release'}`, {
    section_id,
    seats,
    reason,
    ...(isBlock && until !== undefined && { until }),
  })

/** Sets the price or the category of seats of one section. */
export const setPrices = (
  sale: string,
  section_id: string,
  seats: readonly string[],
  to: { readonly price_minor?: number; readonly category?: string },
) =>
  call<{ readonly changed: number; readonly unchanged: number }>('PATCH', `${ofSale(sale)}/seats`, {
    section_id,
    seats,
    ...to,
  })

export const moveSeat = (order: string, line: number, section_id: string, seat_id: string) =>
  call<unknown>('POST', `/admin/orders/${part(order)}/move`, { line, section_id, seat_id })

/** `key` identifies the sale, however often the call is sent. */
export const sellAtBoxOffice = (sale: string, request: BoxOfficeSale, key: string) =>
  call<SoldOrder>('POST', `${ofSale(sale)}/box-office`, request, { 'idempotency-key': key })
