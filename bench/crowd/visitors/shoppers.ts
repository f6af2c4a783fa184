/**
 * The buyers of a drop. Each wants a size, would take a neighbouring one too, chooses a country, and in three of ten
 * cases has the promo code. If the code is used up, they buy without it. Each sends the total that they were shown,
 * so that no other amount is charged.
 */
import type { Order } from '../../../shared/api/public.ts'
import {
  CODE,
  COUNTRIES,
  type Country,
  POSTCODES,
  pickSize,
  SIZES,
  type Size,
  sumOf,
  variantOf,
} from '../../lib/demo-drop.ts'
import type { Refusal } from '../../lib/responses.ts'
import type { Reaction, Wishes } from './visitors.ts'

const ADDRESS = { name: 'Ada Crowd', street: 'Elm Row 12', city: 'Anywhere' }
const WITH_CODE = 0.3
const WITH_TWO = 0.15
export const MOST_PER_SHOPPER = 2
/** A visitor waits this often while all units of a size are in carts, before they request another size. */
const MAX_WAITS = 2

export class Shopper implements Wishes {
  units: number
  version = 0
  askedMs = 0
  answeredMs = 0
  readonly country: Country
  /** True if the visitor had the code, whether it could be used or not. */
  readonly broughtCode: boolean
  hasCode: boolean
  /** The total in the order's first response; null without an order. */
  told: number | null = null
  readonly #sizes: Size[]
  #waits = 0

  constructor(size: Size, units: number, country: Country, broughtCode: boolean) {
    this.units = units
    this.country = country
    this.broughtCode = broughtCode
    this.hasCode = broughtCode
    const wanted = SIZES.indexOf(size)
    this.#sizes = SIZES.toSorted((a, b) => Math.abs(SIZES.indexOf(a) - wanted) - Math.abs(SIZES.indexOf(b) - wanted))
  }

  get product(): string {
    return variantOf(this.#sizes[0] ?? '')
  }

  body() {
    return {
      product_id: this.product,
      quantity: this.units,
      ...(this.hasCode && { promo_code: CODE }),
      total_minor: sumOf({ ...this, quantity: this.units }),
      accept: ['terms'],
      delivery: { ...ADDRESS, postcode: POSTCODES[this.country], country: this.country },
    }
  }

  refused({ type }: Refusal): Reaction {
    if (type === '/problems/promo-code-used-up') this.hasCode = false
    else if (type === '/problems/all-in-carts' && this.#waits++ < MAX_WAITS) return 'wait'
    else if (this.units > 1) this.units = 1
    else {
      const [size] = this.#sizes.splice(0, 1)
      // Units in carts may become available again, so a visitor leaves only after each size was reported as sold out.
      if (type === '/problems/all-in-carts' && size !== undefined) this.#sizes.push(size)
      if (this.#sizes.length === 0) return 'leave'
    }
    this.#waits = 0
    this.version++
    this.askedMs = 0
    return 'ask'
  }

  has({ total_minor }: Partial<Pick<Order, 'total_minor'>>): void {
    if (total_minor !== undefined) this.told = total_minor
  }
}

export function shopperOf(random: () => number): Shopper {
  const size = pickSize(random)
  const country = COUNTRIES[Math.floor(random() * COUNTRIES.length)] ?? 'DE'
  return new Shopper(size, random() < WITH_TWO ? MOST_PER_SHOPPER : 1, country, random() < WITH_CODE)
}
