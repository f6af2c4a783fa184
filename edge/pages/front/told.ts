/** State and price of a listed sale in a few words, on the server and in the browser. */
import type { ListedSale } from '../../../shared/api/front.ts'
import { count, fill, money, shortly } from '../../../shared/format.ts'
import type { Phase } from '../../../shared/schedule.ts'
import type { Words } from '../words/words.ts'

export interface Told extends Pick<ListedSale, 'opens_at' | 'price_from_minor' | 'currency' | 'prices_differ'> {
  readonly phase: Phase
  /** The units for sale, as of some seconds ago. */
  readonly left: number
}

/** The texts, by the names under which the search's form has them for its script. */
export interface ToldTexts {
  readonly ended: string
  readonly soldOut: string
  readonly paused: string
  readonly allInCarts: string
  readonly fewLeft: string
  readonly onSale: string
  readonly from: string
}

export const toldTexts = ({ ended, soldOut, paused, allInCarts, checkout, front, hall }: Words): ToldTexts => ({
  ...{ ended, soldOut, paused, allInCarts, fewLeft: checkout.fewLeft, onSale: front.onSale, from: hall.from },
})

/** This number of remaining units is low enough to be shown. */
const FEW_LEFT = 20

export const isBefore = ({ phase }: Pick<Told, 'phase'>) => phase === 'upcoming' || phase === 'pre_queue'

/** When a sale opens, that it runs, or that it is over. The time is the reader's unless a zone is given. */
export function stateText(texts: ToldTexts, lang: string, sale: Told, nowMs: number, timeZone?: string): string {
  const { phase, left, opens_at } = sale
  if (isBefore(sale)) return shortly(lang, Date.parse(opens_at), nowMs, timeZone)
  if (phase === 'ended') return texts.ended
  if (phase === 'sold_out') return texts.soldOut
  if (phase === 'paused') return texts.paused
  if (phase === 'all_in_carts') return texts.allInCarts
  return left <= FEW_LEFT ? fill(texts.fewLeft, { n: count(lang, left) }) : texts.onSale
}

/** The lowest price, with "from" if there are others; empty for a sale that sells nothing yet. */
export function priceText(
  { from }: Pick<ToldTexts, 'from'>,
  lang: string,
  { price_from_minor, currency, prices_differ }: Pick<Told, 'price_from_minor' | 'currency' | 'prices_differ'>,
): string {
  if (price_from_minor === null || currency === null) return ''
  const price = money(lang, price_from_minor, currency)
  return prices_differ ? fill(from, { m: price }) : price
}
