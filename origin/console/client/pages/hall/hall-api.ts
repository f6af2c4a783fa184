/** The operators' calls of a hall: its chart, who has which seat, blocks, moves, the box office and imports. */
import type { CheckoutLine, Order, SeatKind } from '../../../../../shared/api/public.ts'
import { send } from '../../api.ts'

export type SectionType = 'reserved' | 'general_admission'
export type Point = readonly [x: number, y: number]

export interface ChartSeat {
  readonly seat_id: string
  readonly row: string
  readonly number: string
  readonly x: number
  readonly y: number
  readonly category: string
  readonly kind: SeatKind
  readonly price_minor: number
}

export interface ChartSection {
  readonly section_id: string
  readonly name: string
  readonly type: SectionType
  readonly outline?: readonly Point[]
  readonly seats: readonly ChartSeat[]
}

export interface Chart {
  readonly version: number
  readonly focal_point: { readonly x: number; readonly y: number }
  readonly sections: readonly ChartSection[]
}

export interface HallSection {
  readonly section_id: string
  readonly name: string
  readonly type: SectionType
  readonly total: number
  readonly available: number
  readonly held: number
  readonly sold: number
  readonly blocked: number
  readonly price_minor: number
  readonly currency: string
}

export interface Block {
  readonly section_id: string
  readonly seat_id: string
  readonly reason: string
  /** Null: nobody knows any more. */
  readonly operator: string | null
  readonly since: string
}

export interface Hall {
  /** Of its chart. */
  readonly version: number
  readonly sections: readonly HallSection[]
  /** Two bits a seat, in the chart's order, in base64. */
  readonly seats: string
  readonly blocks: readonly Block[]
}

/** Who has a seat. */
export interface SeatHolder {
  readonly state: 'available' | 'held' | 'sold' | 'blocked'
  readonly order?: string
  readonly status?: string
  readonly since?: string
  readonly reason?: string
}

export interface SectionConfig {
  readonly name: string
  readonly type: SectionType
  /** Of a standing section. */
  readonly total?: number
  readonly price_minor: number
  readonly currency: string
  /** Left out: it has none any more. */
  readonly outline?: readonly Point[]
}

/** What an import changes, in seats. */
export interface ImportResult {
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly unchanged: number
}

/** What an import would change, and why it cannot be done: wrong lines, and seats that somebody has and it leaves out. */
export interface ImportPreview extends ImportResult {
  /** The first of `error_count`. */
  readonly errors: readonly { readonly field: string; readonly detail: string }[]
  readonly error_count: number
  /** The first of `seat_count`. */
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

export const readHall = (sale: string) => call<Hall>('GET', `${ofSale(sale)}/hall`)
export const readChart = (sale: string) => call<Chart>('GET', `${ofSale(sale)}/chart`)
export const readHolder = (sale: string, section: string, seat: string) =>
  call<SeatHolder>('GET', `${ofSale(sale)}/hall/seats/${part(section)}/${part(seat)}`)

export const putSection = (sale: string, section: string, config: SectionConfig) =>
  call<unknown>('PUT', ofSection(sale, section), config)
export const deleteSection = (sale: string, section: string) => call<unknown>('DELETE', ofSection(sale, section))

const CSV = { 'content-type': 'text/csv' }

/** Changes nothing. */
export async function previewSeats(sale: string, section: string, csv: Blob): Promise<ImportPreview> {
  const path = `${ofSection(sale, section)}/seats?preview=true`
  return (await send(path, { method: 'PUT', headers: CSV, body: csv })).json()
}

/** All seats of the section, or nothing. */
export async function putSeats(sale: string, section: string, csv: Blob): Promise<ImportResult> {
  return (await send(`${ofSection(sale, section)}/seats`, { method: 'PUT', headers: CSV, body: csv })).json()
}

/** Seats of one section. */
export const setBlocked = (sale: string, section_id: string, seats: readonly string[], reason: string, on: boolean) =>
  call<unknown>('POST', `${ofSale(sale)}/seats/${on ? 'block' : 'release'}`, { section_id, seats, reason })

export const moveSeat = (order: string, line: number, section_id: string, seat_id: string) =>
  call<unknown>('POST', `/admin/orders/${part(order)}/move`, { line, section_id, seat_id })

/** `key`: of the sale, however often it is sent. */
export const sellAtBoxOffice = (sale: string, request: BoxOfficeSale, key: string) =>
  call<SoldOrder>('POST', `${ofSale(sale)}/box-office`, request, { 'idempotency-key': key })
