/** Describes scheduled actions in words. */
import type { ScheduledEffect } from '../../../../../shared/api/operators/requests.ts'
import { money } from '../../../../../shared/format.ts'
import { count } from '../../format.ts'

export interface Product {
  readonly product_id: string
  readonly name: string
  readonly currency: string
  readonly unit_price_minor: number
}

/** Describes the effect of an action in a few words. */
export function inWords(effect: ScheduledEffect, products: readonly Product[]): string {
  const product = 'product_id' in effect ? products.find((p) => p.product_id === effect.product_id) : undefined
  const name = product?.name ?? ('product_id' in effect ? effect.product_id : '')
  switch (effect.action) {
    case 'restock':
      return `Add ${count(effect.quantity)} units of ${name}`
    case 'rate':
      return `Call ${count(effect.rate_per_second)} people a second`
    case 'price':
      return (
        `Sell ${name} for ` +
        `${product ? money('en', effect.unit_price_minor, product.currency) : effect.unit_price_minor}`
      )
    case 'pause':
      return effect.reason ? `Pause: ${firstOf(effect.reason)}` : 'Pause'
    case 'resume':
      return 'Resume'
    case 'announce':
      return `Announce: ${firstOf(effect.text)}`
    case 'end':
      return 'End the sale'
    case 'report':
      return effect.to ? `Keep the report, and mail it to ${effect.to.join(', ')}` : 'Keep the report'
    case 'export':
      return 'Keep the orders'
  }
}

const firstOf = (texts: Readonly<Record<string, string | undefined>>) => Object.values(texts)[0] ?? ''

export const inUtc = (iso: string) => `${iso.slice(0, 16).replace('T', ' ')} UTC`
