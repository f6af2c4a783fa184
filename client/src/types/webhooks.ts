// `npm run openapi` writes this file from docs/openapi: do not edit it.

export interface Order {
  readonly order_id: string
  readonly sale: string
  readonly product_id: string
  readonly quantity: number
  readonly unit_price_minor: number
  readonly currency: string
  readonly status: 'processing' | 'reserved' | 'paying' | 'confirmed' | 'fulfilled' | 'expired' | 'cancelled' | 'refunded'
  readonly reason?: 'given_back' | 'declined' | 'not_authenticated' | 'payment_timeout' | 'oversold' | 'blocked' | 'by_shop' | 'no_stock' | 'limit' | 'replay' | 'seat_taken' | 'price_changed' | 'too_many' | undefined
  readonly reserved_until: string | null
  readonly expires_in_seconds: number
  readonly created_at: string
  readonly lines: readonly ({
    readonly line: number
    readonly product_id?: string | undefined
    readonly section_id?: string | undefined
    readonly seat_id?: string | undefined
    readonly row?: string | undefined
    readonly number?: string | undefined
    readonly name: string
    readonly quantity: number
    readonly unit_price_minor: number
    readonly status: 'held' | 'sold' | 'returned'
  })[]
  readonly short_number: string | null
  readonly subtotal_minor: number
  readonly discount_minor: number
  readonly fees: readonly ({
    readonly name: string
    readonly amount_minor: number
    readonly included?: boolean | undefined
  })[]
  readonly shipping_minor: number
  readonly tax_minor: number
  readonly total_minor: number
  readonly refunded_minor: number
  readonly receipt?: {
    readonly seller?: {
      readonly name: string
      readonly address?: string | undefined
      readonly tax_id?: string | undefined
    } | null | undefined
    readonly tax?: {
      readonly name: string
      readonly included?: boolean | undefined
      readonly percent: number
    } | null | undefined
  } | undefined
  readonly payment: {
    readonly status: 'pending' | 'requires_action' | 'declined' | 'succeeded' | 'refunded'
    readonly next_action?: {
      readonly type: 'redirect'
      readonly url: string
    } | undefined
    readonly client_secret?: string | undefined
    readonly expires_in_seconds?: number | undefined
    readonly code?: string | undefined
    readonly message?: string | undefined
    readonly attempts_left?: number | undefined
    readonly method?: string | undefined
    readonly card?: {
      readonly brand: string
      readonly last4: string
    } | undefined
  } | null
  readonly contact?: {
    readonly email?: string | undefined
    readonly delivery?: {
      readonly name?: string | undefined
      readonly phone?: string | undefined
      readonly company?: string | undefined
      readonly street?: string | undefined
      readonly line2?: string | undefined
      readonly postcode?: string | undefined
      readonly city?: string | undefined
      readonly region?: string | undefined
      readonly country?: string | undefined
      readonly note?: string | undefined
    } | undefined
  } | undefined
  readonly remaining?: number | undefined
  readonly order_token?: string | undefined
}

export interface Sale {
  readonly sale: string
  readonly name: string
  readonly time_zone: string
  readonly phase: 'upcoming' | 'open' | 'paused' | 'all_in_carts' | 'sold_out' | 'ended'
  readonly pre_queue_opens_at: string
  readonly opens_at: string
  readonly ends_at: string | null
  readonly hold_seconds: number
  readonly limit_per_visitor: number
  readonly limit_per_order: number | null
  readonly products: readonly ({
    readonly product_id: string
    readonly name: string
    readonly unit_price_minor: number
    readonly currency: string
    readonly total: number
    readonly buffer: number
    readonly held: number
    readonly sold: number
    readonly available: number
    readonly section_type: 'reserved' | 'general_admission' | null
    readonly limit: number | null
    readonly weight_grams: number | null
    readonly has_terms: boolean
    readonly names?: Readonly<Record<string, string>> | null | undefined
    readonly subtitle?: Readonly<Record<string, string>> | null | undefined
    readonly description?: string | Readonly<Record<string, string>> | null | undefined
    readonly images?: readonly ({
      readonly url: string
      readonly alt?: string | undefined
      readonly width?: number | undefined
      readonly height?: number | undefined
      readonly widths?: readonly number[] | undefined
    })[] | undefined
    readonly options?: readonly ({
      readonly name: string
      readonly names?: Readonly<Record<string, string>> | null | undefined
      readonly values: readonly string[]
    })[] | undefined
    readonly terms?: string | Readonly<Record<string, string>> | null | undefined
    readonly tags?: readonly string[] | undefined
    readonly variants?: readonly ({
      readonly variant_id: string
      readonly options: Readonly<Record<string, string>>
      readonly unit_price_minor: number
      readonly total: number
      readonly buffer: number
      readonly held: number
      readonly sold: number
      readonly available: number
      readonly sku?: string | undefined
    })[] | undefined
  })[]
  readonly goods_version: number | null
  readonly chart_version: number | null
  readonly admission: {
    readonly rate_per_second: number
    readonly max_inside: number | null
  }
  readonly expected_visitors: number | null
  readonly max_unpaid_orders: number
  readonly announcement: {
    readonly id: string
    readonly level: 'info' | 'warning'
    readonly text: Readonly<Record<string, string>>
    readonly since: string
    readonly until?: string | null | undefined
  } | null
  readonly pause_reason: Readonly<Record<string, string>> | null
  readonly seller: {
    readonly name: string
    readonly address?: string | undefined
    readonly tax_id?: string | undefined
  } | null
  readonly tax: {
    readonly name: string
    readonly included?: boolean | undefined
    readonly percent: number
  } | null
  readonly fees: readonly ({
    readonly name: string
    readonly percent?: number | undefined
    readonly amount_minor?: number | undefined
    readonly per: 'unit' | 'order'
    readonly included?: boolean | undefined
  })[]
  readonly delivery: {
    readonly kind: 'none' | 'pickup' | 'address' | 'handover'
    readonly countries?: readonly string[] | undefined
    readonly prices?: readonly ({
      readonly countries?: readonly string[] | undefined
      readonly up_to_grams?: number | undefined
      readonly amount_minor: number
      readonly days?: number | undefined
    })[] | undefined
    readonly pickup?: string | undefined
    readonly return_url?: string | undefined
    readonly ask?: {
      readonly name?: 'off' | 'optional' | 'required' | undefined
      readonly phone?: 'off' | 'optional' | 'required' | undefined
      readonly company?: 'off' | 'optional' | 'required' | undefined
      readonly note?: 'off' | 'optional' | 'required' | undefined
    } | undefined
  }
  readonly indexed: boolean
  readonly mails: readonly ('turn_near' | 'turn' | 'sold_out' | 'restocked' | 'hold_ends' | 'hold_ended' | 'confirmed' | 'declined' | 'cancelled' | 'refunded' | 'sent')[]
  readonly payment: 'provider' | 'handover'
  readonly test: boolean
}

export interface Finding {
  readonly finding: string
  readonly sale: string | null
  readonly product_id: string | null
  readonly kind: string
  readonly subject: string | null
  readonly units: number
  readonly detail: unknown
}

/** The messages by their type. */
export interface WebhookMessages {
  /** An order holds its units, until it is paid or the hold ends */
  readonly 'order.reserved': {
    readonly type: 'order.reserved'
    readonly timestamp: string
    readonly data: Order
  }
  /** A payment of the order was begun */
  readonly 'order.paying': {
    readonly type: 'order.paying'
    readonly timestamp: string
    readonly data: Order
  }
  /** The order is paid */
  readonly 'order.confirmed': {
    readonly type: 'order.confirmed'
    readonly timestamp: string
    readonly data: Order
  }
  /** The payment was declined; the order is held as before */
  readonly 'order.declined': {
    readonly type: 'order.declined'
    readonly timestamp: string
    readonly data: Order
  }
  /** The hold ended */
  readonly 'order.expired': {
    readonly type: 'order.expired'
    readonly timestamp: string
    readonly data: Order
  }
  /** The order was cancelled, by its buyer, the shop, or without a payment */
  readonly 'order.cancelled': {
    readonly type: 'order.cancelled'
    readonly timestamp: string
    readonly data: Order
  }
  /** Money of the order was given back; `refunded_minor` says how much in all */
  readonly 'order.refunded': {
    readonly type: 'order.refunded'
    readonly timestamp: string
    readonly data: Order
  }
  /** The order was sent */
  readonly 'order.fulfilled': {
    readonly type: 'order.fulfilled'
    readonly timestamp: string
    readonly data: Order
  }
  /** A refund was not made after all (endpoints with `*` only) */
  readonly 'order.refund_failed': {
    readonly type: 'order.refund_failed'
    readonly timestamp: string
    readonly data: Order
  }
  /** The order has fewer lines (endpoints with `*` only) */
  readonly 'order.lines_cancelled': {
    readonly type: 'order.lines_cancelled'
    readonly timestamp: string
    readonly data: Order
  }
  /** Units of a refunded order are for sale again (endpoints with `*` only) */
  readonly 'order.units_returned': {
    readonly type: 'order.units_returned'
    readonly timestamp: string
    readonly data: Order
  }
  /** The line moves, also after a pause */
  readonly 'sale.opened': {
    readonly type: 'sale.opened'
    readonly timestamp: string
    readonly data: Sale
  }
  /** The line stands */
  readonly 'sale.paused': {
    readonly type: 'sale.paused'
    readonly timestamp: string
    readonly data: Sale
  }
  /** Every unit is sold, and none is in a cart */
  readonly 'sale.sold_out': {
    readonly type: 'sale.sold_out'
    readonly timestamp: string
    readonly data: Sale
  }
  /** Units were added */
  readonly 'sale.restocked': {
    readonly type: 'sale.restocked'
    readonly timestamp: string
    readonly data: Sale
  }
  /** The sale is over */
  readonly 'sale.ended': {
    readonly type: 'sale.ended'
    readonly timestamp: string
    readonly data: Sale
  }
  /** Something is not as it should be */
  readonly 'finding.opened': {
    readonly type: 'finding.opened'
    readonly timestamp: string
    readonly data: Finding
  }
  /** An operator tries the endpoint */
  readonly 'webhook.test': {
    readonly type: 'webhook.test'
    readonly timestamp: string
    readonly data: {
      readonly endpoint: string
    }
  }
}
