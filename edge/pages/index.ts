/** The pages. (A first, plain one.) */
import type { Order, PublicSale } from '../../shared/api.ts'
import type { Problem } from '../../shared/problem.ts'
import type { Place, Schedule } from '../../shared/schedule.ts'

export interface Brand {
  readonly name: string
}

export interface SaleView {
  readonly sale: string
  readonly state: PublicSale
  readonly schedule: Schedule
  readonly place: Place | null
  readonly number: number | null
  readonly nowMs: number
  readonly order?: Order
  readonly problem?: Problem
  readonly lang: string
  readonly brand: Brand
}

export function renderSale(view: SaleView): { html: string; refreshSeconds: number | null } {
  const safe = (text: string) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
  return { html: `<!doctype html><title>${safe(view.state.name)}</title>`, refreshSeconds: null }
}
