/** A listed sale for tests. */
import type { ListedSale } from '../api/front.ts'

export const anySale = (sale: string, name: string, more: Partial<ListedSale> = {}): ListedSale => ({
  sale,
  name,
  opens_at: '2026-11-27T12:00:00.000Z',
  pre_queue_opens_at: '2026-11-27T11:00:00.000Z',
  ends_at: null,
  image: null,
  price_from_minor: 1_000,
  currency: 'EUR',
  prices_differ: false,
  venue: null,
  shop: 'Halfway',
  products: [],
  ...more,
})
