/** The operators' calls for a hall: its chart, holders of seats, blocks, moves, the box office and imports. */
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
  /** Null if the operator is no longer known. */
  readonly operator: string | null
  readonly since: string
}

export interface Hall {
  /** The version of the chart. */
  readonly version: number
  readonly sections: readonly HallSection[]
  /** Two bits per seat in the chart's order, in base64. */
  readonly seats: string
  readonly blocks: readonly Block[]
}

/** The state of a seat, and the order that has it. */
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
  /** The number of places of a standing section. */
  readonly total?: number
  readonly price_minor: number
  readonly currency: string
  /** If it is missing, the section loses its outline. */
  readonly outline?: readonly Point[]
}

/** The changes of an import, in seats. */
export interface ImportResult {
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly unchanged: number
}

/**
 * The changes that an import would make, and the reasons why it cannot: wrong lines, and missing seats that are held
 * or sold.
 */
export interface ImportPreview extends ImportResult {
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

export const readHall = (sale: string) => call<Hall>('GET', `${ofSale(sale)}/hall`)
export const readChart = (sale: string) => call<Chart>('GET', `${ofSale(sale)}/chart`)
export const readHolder = (sale: string, section: string, seat: string) =>
  call<SeatHolder>('GET', `${ofSale(sale)}/hall/seats/${part(section)}/${part(seat)}`)

export const putSection = (sale: string, section: string, config: SectionConfig) =>
  call<unknown>('PUT', ofSection(sale, section), config)
export const deleteSection = (sale: string, section: string) => call<unknown>('DELETE', ofSection(sale, section))

const CSV = { 'content-type': 'text/csv' }

/** Checks an import without changing anything. */
export async function previewSeats(sale: string, section: string, csv: Blob): Promise<ImportPreview> {
  const path = `${ofSection(sale, section)}/seats?preview=true`
  return (await send(path, { method: 'PUT', headers: CSV, body: csv })).json()
}

/** Imports all seats of the section, or none of them. */
export async function putSeats(sale: string, section: string, csv: Blob): Promise<ImportResult> {
  return (await send(`${ofSection(sale, section)}/seats`, { method: 'PUT', headers: CSV, body: csv })).json()
}

/** Blocks or releases seats of one section. */
export const setBlocked = (sale: string, section_id: string, seats: readonly string[], reason: string, on: boolean) =>
  call<unknown>('POST', `${ofSale(sale)}/seats/${on ? 'block' : 'release'}`, { section_id, seats, reason })

export const moveSeat = (order: string, line: number, section_id: string, seat_id: string) =>
  call<unknown>('POST', `/admin/orders/${part(order)}/move`, { line, section_id, seat_id })

/** `key` identifies the sale, however often the call is sent. */
export const sellAtBoxOffice = (sale: string, request: BoxOfficeSale, key: string) =>
  call<SoldOrder>('POST', `${ofSale(sale)}/box-office`, request, { 'idempotency-key': key })
