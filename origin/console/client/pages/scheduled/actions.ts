/** Scheduled actions as the origin tells them, and in words. */
import type { ScheduledEffect } from '../../../../../shared/api/operator.ts'
import { money } from '../../../../../shared/format.ts'
import { count } from '../../parts.tsx'

export interface Run {
  readonly due_at: string
  readonly ran_at: string
  readonly late: boolean
  readonly error: string | null
}

export type Scheduled = ScheduledEffect & {
  readonly action_id: string
  readonly cron: string | null
  readonly operator: string
  readonly next_at: string | null
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly runs: readonly Run[]
}

export interface Product {
  readonly product_id: string
  readonly name: string
  readonly currency: string
  readonly unit_price_minor: number
}

/** What it will do, in a few words. */
export function inWords(effect: ScheduledEffect, products: readonly Product[]): string {
  const product = 'product_id' in effect ? products.find((p) => p.product_id === effect.product_id) : undefined
  const name = product?.name ?? ('product_id' in effect ? effect.product_id : '')
  switch (effect.action) {
    case 'restock':
      return `Add ${count(effect.quantity)} units of ${name}`
    case 'rate':
      return `Call ${count(effect.rate_per_second)} people a second`
    case 'price':
      return `Sell ${name} for ${product ? money('en', effect.unit_price_minor, product.currency) : effect.unit_price_minor}`
    case 'pause':
      return effect.reason ? `Pause: ${firstOf(effect.reason)}` : 'Pause'
    case 'resume':
      return 'Resume'
    case 'announce':
      return `Announce: ${firstOf(effect.text)}`
    case 'end':
      return 'End the sale'
  }
}

const firstOf = (texts: Readonly<Record<string, string | undefined>>) => Object.values(texts)[0] ?? ''

export const inUtc = (iso: string) => `${iso.slice(0, 16).replace('T', ' ')} UTC`
export const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

/** How long, in its largest unit. */
export function roughly(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`
  return seconds < 86_400 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`
}
