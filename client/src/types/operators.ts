// `npm run openapi` writes this file from docs/openapi: do not edit it.

export interface SaleConfig {
  readonly sale?: unknown | undefined
  readonly phase?: unknown | undefined
  readonly ended_at?: unknown | undefined
  readonly paused?: unknown | undefined
  readonly invariant?: unknown | undefined
  readonly rates?: unknown | undefined
  readonly queue?: unknown | undefined
  readonly health?: unknown | undefined
  readonly server_time?: unknown | undefined
  readonly rules?: unknown | undefined
  readonly announcement?: unknown | undefined
  readonly pause_reason?: unknown | undefined
  readonly chart_version?: unknown | undefined
  readonly goods_version?: unknown | undefined
  readonly version?: unknown | undefined
  readonly name: string
  readonly names?: Readonly<Record<string, string>> | null | undefined
  readonly time_zone?: string | undefined
  readonly opens_at: string
  readonly ends_at?: string | null | undefined
  readonly pre_queue_opens_at?: string | null | undefined
  readonly hold_seconds?: number | undefined
  readonly limit_per_visitor?: number | undefined
  readonly limit_per_order?: number | null | undefined
  readonly products?: readonly ({
    readonly available?: unknown | undefined
    readonly held?: unknown | undefined
    readonly sold?: unknown | undefined
    readonly section_type?: unknown | undefined
    readonly variant_of?: unknown | undefined
    readonly variant?: unknown | undefined
    readonly sku?: unknown | undefined
    readonly has_terms?: unknown | undefined
    readonly product_id: string
    readonly name: string
    readonly unit_price_minor: number
    readonly currency: string
    readonly total: number
    readonly buffer?: number | undefined
    readonly limit?: number | null | undefined
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
      readonly available?: unknown | undefined
      readonly held?: unknown | undefined
      readonly sold?: unknown | undefined
      readonly variant_id: string
      readonly options: Readonly<Record<string, string>>
      readonly unit_price_minor?: number | undefined
      readonly total: number
      readonly buffer?: number | undefined
      readonly sku?: string | undefined
    })[] | undefined
    readonly weight_grams?: number | null | undefined
  })[] | undefined
  readonly admission: {
    readonly rate_per_second: number
    readonly max_inside?: number | null | undefined
  }
  readonly oversell_policy?: 'alarm' | 'cancel_latest' | 'fulfil_from_buffer' | undefined
  readonly access?: {
    readonly sign_in?: 'optional' | 'required' | undefined
    readonly invitation?: 'off' | 'required' | undefined
    readonly proof_of_work?: 'off' | 'auto' | number | null | undefined
    readonly turnstile?: boolean | undefined
  } | undefined
  readonly lines?: readonly ({
    readonly line: string
    readonly name?: Readonly<Record<string, string>> | null | undefined
    readonly weight?: number | undefined
    readonly opens_early_seconds?: number | undefined
    readonly access?: {
      readonly sign_in?: 'optional' | 'required' | undefined
      readonly invitation?: 'off' | 'required' | undefined
      readonly proof_of_work?: 'off' | 'auto' | number | null | undefined
      readonly turnstile?: boolean | undefined
    } | null | undefined
  })[] | undefined
  readonly expected_visitors?: number | null | undefined
  readonly max_unpaid_orders?: number | undefined
  readonly contact?: {
    readonly email?: 'off' | 'optional' | 'required' | undefined
    readonly address?: boolean | undefined
    readonly retention_days?: number | undefined
  } | undefined
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
  readonly brand?: {
    readonly shop: string
    readonly logo?: string | undefined
    readonly accent?: string | undefined
    readonly hero?: string | undefined
    readonly sizes?: {
      readonly logo?: {
        readonly width: number
        readonly height: number
        readonly widths: readonly number[]
      } | undefined
      readonly hero?: {
        readonly width: number
        readonly height: number
        readonly widths: readonly number[]
      } | undefined
    } | undefined
    readonly words?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined
  } | null | undefined
  readonly fees?: readonly ({
    readonly name: string
    readonly percent?: number | undefined
    readonly amount_minor?: number | undefined
    readonly per: 'unit' | 'order'
    readonly included?: boolean | undefined
  })[] | undefined
  readonly delivery?: {
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
  } | undefined
  readonly venue?: string | null | undefined
  readonly event?: {
    readonly starts_at: string
    readonly ends_at?: string | null | undefined
    readonly time_zone?: string | undefined
  } | null | undefined
  readonly indexed?: boolean | undefined
  readonly mails?: readonly ('turn_near' | 'turn' | 'sold_out' | 'restocked' | 'hold_ends' | 'hold_ended' | 'confirmed' | 'declined' | 'cancelled' | 'refunded' | 'sent')[] | undefined
  readonly payment?: 'provider' | 'handover' | undefined
  readonly test?: boolean | undefined
}

export interface RuleConfig {
  readonly rule?: unknown | undefined
  readonly met?: unknown | undefined
  readonly when: {
    readonly address?: string | undefined
    readonly asn?: number | undefined
    readonly country?: string | undefined
    readonly user_agent?: string | undefined
    readonly claim?: {
      readonly name: string
      readonly value: string | number | boolean
    } | undefined
    readonly line?: string | undefined
  }
  readonly action: 'allow' | 'prove' | 'last' | 'refuse'
  readonly note?: string | undefined
}

export interface PromoCode {
  readonly used?: unknown | undefined
  readonly code: string
  readonly percent?: number | undefined
  readonly amount_minor?: number | undefined
  readonly price_minor?: number | undefined
  readonly uses?: number | null | undefined
  readonly uses_per_visitor?: number | null | undefined
  readonly units_per_use?: number | null | undefined
  readonly from?: string | null | undefined
  readonly until?: string | null | undefined
  readonly products?: readonly string[] | null | undefined
  readonly combined?: boolean | undefined
}

export interface ViewRuleList {
  readonly rules: readonly ({
    readonly dropped?: unknown | undefined
    readonly examples?: unknown | undefined
    readonly kind: 'min_seconds'
    readonly rule?: string | undefined
    readonly on?: boolean | undefined
    readonly note?: string | undefined
    readonly seconds: number
  } | {
    readonly dropped?: unknown | undefined
    readonly examples?: unknown | undefined
    readonly kind: 'repeat'
    readonly rule?: string | undefined
    readonly on?: boolean | undefined
    readonly note?: string | undefined
    readonly minutes: number
  } | {
    readonly dropped?: unknown | undefined
    readonly examples?: unknown | undefined
    readonly kind: 'bots'
    readonly rule?: string | undefined
    readonly on?: boolean | undefined
    readonly note?: string | undefined
  } | {
    readonly dropped?: unknown | undefined
    readonly examples?: unknown | undefined
    readonly kind: 'data_centres'
    readonly rule?: string | undefined
    readonly on?: boolean | undefined
    readonly note?: string | undefined
  } | {
    readonly dropped?: unknown | undefined
    readonly examples?: unknown | undefined
    readonly kind: 'staff'
    readonly rule?: string | undefined
    readonly on?: boolean | undefined
    readonly note?: string | undefined
    readonly addresses: readonly string[]
  } | {
    readonly dropped?: unknown | undefined
    readonly examples?: unknown | undefined
    readonly kind: 'rate'
    readonly rule?: string | undefined
    readonly on?: boolean | undefined
    readonly note?: string | undefined
    readonly views: number
    readonly minutes: number
    readonly per: 'pseudonym' | 'address'
  } | {
    readonly dropped?: unknown | undefined
    readonly examples?: unknown | undefined
    readonly kind: 'addresses'
    readonly rule?: string | undefined
    readonly on?: boolean | undefined
    readonly note?: string | undefined
    readonly list: readonly string[]
  } | {
    readonly dropped?: unknown | undefined
    readonly examples?: unknown | undefined
    readonly kind: 'networks'
    readonly rule?: string | undefined
    readonly on?: boolean | undefined
    readonly note?: string | undefined
    readonly asns: readonly number[]
  })[]
}

export interface Sale {
  readonly sale: string
  readonly name: string
  readonly time_zone: string
  readonly phase: 'upcoming' | 'open' | 'paused' | 'all_in_carts' | 'sold_out' | 'ended'
  readonly pre_queue_opens_at: string
  readonly opens_at: string
  readonly ends_at: string | null
  readonly ended_at: string | null
  readonly paused: boolean
  readonly hold_seconds: number
  readonly limit_per_visitor: number
  readonly limit_per_order: number | null
  readonly products: readonly Product[]
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
  readonly pause_reason: Texts | null
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
  readonly delivery: Delivery
  readonly indexed: boolean
  readonly mails: readonly ('turn_near' | 'turn' | 'sold_out' | 'restocked' | 'hold_ends' | 'hold_ended' | 'confirmed' | 'declined' | 'cancelled' | 'refunded' | 'sent')[]
  readonly payment: 'provider' | 'handover'
  readonly test: boolean
  readonly brand: Brand | null
  readonly venue: string | null
  readonly names: Names | null
  readonly event: {
    readonly starts_at: string
    readonly ends_at: string | null
    readonly time_zone: string
  } | null
  readonly access: Access
  readonly contact: {
    readonly email?: 'off' | 'optional' | 'required' | undefined
    readonly address?: boolean | undefined
    readonly retention_days?: number | undefined
  }
  readonly lines: readonly Line[]
  readonly oversell_policy: 'alarm' | 'cancel_latest' | 'fulfil_from_buffer'
  readonly invariant: {
    readonly total: number
    readonly buffer: number
    readonly held: number
    readonly sold: number
    readonly available: number
    readonly holds: boolean
    readonly compared_at: string | null
  }
  readonly rates: {
    readonly admission_per_second: number
    readonly called_per_second: number | null
    readonly boost: number | null
    readonly throttle: number | null
  }
  readonly queue: {
    readonly arrivals: number
    readonly numbers_given: number | null
    readonly called: number | null
    readonly may_come: number | null
    readonly waiting: number | null
    readonly wait_seconds: number | null
    readonly waiting_for_stock: number
    readonly on_site: number
    readonly counted: boolean
    readonly lines: readonly ({
      readonly line: string
      readonly arrivals: number
      readonly numbers_given: number | null
      readonly called: number | null
      readonly may_come: number | null
      readonly waiting: number | null
      readonly wait_seconds: number | null
      readonly called_per_second: number | null
      readonly boost: number | null
      readonly throttle: number | null
    })[]
  }
  readonly health: 'ok' | 'slow'
  readonly server_time: string
  readonly version: string
}

export interface SaleState {
  readonly sale: string
  readonly name: string
  readonly time_zone: string
  readonly phase: 'upcoming' | 'open' | 'paused' | 'all_in_carts' | 'sold_out' | 'ended'
  readonly pre_queue_opens_at: string
  readonly opens_at: string
  readonly ends_at: string | null
  readonly ended_at: string | null
  readonly paused: boolean
  readonly hold_seconds: number
  readonly limit_per_visitor: number
  readonly limit_per_order: number | null
  readonly products: readonly Product[]
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
  readonly pause_reason: Texts | null
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
  readonly delivery: Delivery
  readonly indexed: boolean
  readonly mails: readonly ('turn_near' | 'turn' | 'sold_out' | 'restocked' | 'hold_ends' | 'hold_ended' | 'confirmed' | 'declined' | 'cancelled' | 'refunded' | 'sent')[]
  readonly payment: 'provider' | 'handover'
  readonly test: boolean
  readonly brand: Brand | null
  readonly venue: string | null
  readonly names: Names | null
  readonly event: {
    readonly starts_at: string
    readonly ends_at: string | null
    readonly time_zone: string
  } | null
  readonly access: Access
  readonly contact: {
    readonly email?: 'off' | 'optional' | 'required' | undefined
    readonly address?: boolean | undefined
    readonly retention_days?: number | undefined
  }
  readonly lines: readonly Line[]
  readonly oversell_policy: 'alarm' | 'cancel_latest' | 'fulfil_from_buffer'
  readonly invariant: {
    readonly total: number
    readonly buffer: number
    readonly held: number
    readonly sold: number
    readonly available: number
    readonly holds: boolean
    readonly compared_at: string | null
  }
  readonly rates: {
    readonly admission_per_second: number
    readonly called_per_second: number | null
    readonly boost: number | null
    readonly throttle: number | null
  }
  readonly queue: {
    readonly arrivals: number
    readonly numbers_given: number | null
    readonly called: number | null
    readonly may_come: number | null
    readonly waiting: number | null
    readonly wait_seconds: number | null
    readonly waiting_for_stock: number
    readonly on_site: number
    readonly counted: boolean
    readonly lines: readonly ({
      readonly line: string
      readonly arrivals: number
      readonly numbers_given: number | null
      readonly called: number | null
      readonly may_come: number | null
      readonly waiting: number | null
      readonly wait_seconds: number | null
      readonly called_per_second: number | null
      readonly boost: number | null
      readonly throttle: number | null
    })[]
  }
  readonly health: 'ok' | 'slow'
  readonly server_time: string
}

export interface SteeredSale {
  readonly sale: string
  readonly name: string
  readonly time_zone: string
  readonly phase: 'upcoming' | 'open' | 'paused' | 'all_in_carts' | 'sold_out' | 'ended'
  readonly pre_queue_opens_at: string
  readonly opens_at: string
  readonly ends_at: string | null
  readonly ended_at: string | null
  readonly paused: boolean
  readonly hold_seconds: number
  readonly limit_per_visitor: number
  readonly limit_per_order: number | null
  readonly products: readonly Product[]
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
  readonly pause_reason: Texts | null
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
  readonly delivery: Delivery
  readonly indexed: boolean
  readonly mails: readonly ('turn_near' | 'turn' | 'sold_out' | 'restocked' | 'hold_ends' | 'hold_ended' | 'confirmed' | 'declined' | 'cancelled' | 'refunded' | 'sent')[]
  readonly payment: 'provider' | 'handover'
  readonly test: boolean
  readonly brand: Brand | null
  readonly venue: string | null
  readonly names: Names | null
  readonly event: {
    readonly starts_at: string
    readonly ends_at: string | null
    readonly time_zone: string
  } | null
  readonly access: Access
  readonly contact: {
    readonly email?: 'off' | 'optional' | 'required' | undefined
    readonly address?: boolean | undefined
    readonly retention_days?: number | undefined
  }
  readonly lines: readonly Line[]
  readonly oversell_policy: 'alarm' | 'cancel_latest' | 'fulfil_from_buffer'
  readonly invariant: {
    readonly total: number
    readonly buffer: number
    readonly held: number
    readonly sold: number
    readonly available: number
    readonly holds: boolean
    readonly compared_at: string | null
  }
  readonly rates: {
    readonly admission_per_second: number
    readonly called_per_second: number | null
    readonly boost: number | null
    readonly throttle: number | null
  }
  readonly queue: {
    readonly arrivals: number
    readonly numbers_given: number | null
    readonly called: number | null
    readonly may_come: number | null
    readonly waiting: number | null
    readonly wait_seconds: number | null
    readonly waiting_for_stock: number
    readonly on_site: number
    readonly counted: boolean
    readonly lines: readonly ({
      readonly line: string
      readonly arrivals: number
      readonly numbers_given: number | null
      readonly called: number | null
      readonly may_come: number | null
      readonly waiting: number | null
      readonly wait_seconds: number | null
      readonly called_per_second: number | null
      readonly boost: number | null
      readonly throttle: number | null
    })[]
  }
  readonly health: 'ok' | 'slow'
  readonly server_time: string
  readonly version?: string | undefined
}

export interface Product {
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
  readonly names?: Names | null | undefined
  readonly subtitle?: Names | null | undefined
  readonly description?: Markdown | null | undefined
  readonly images?: readonly Image[] | undefined
  readonly options?: readonly ({
    readonly name: string
    readonly names?: Names | null | undefined
    readonly values: readonly string[]
  })[] | undefined
  readonly terms?: Markdown | null | undefined
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
}

export type Texts = Readonly<Record<string, string>>

export type Names = Readonly<Record<string, string>>

export type Markdown = string | Readonly<Record<string, string>>

export interface Image {
  readonly url: string
  readonly alt?: string | undefined
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly widths?: readonly number[] | undefined
}

export interface Brand {
  readonly shop: string
  readonly logo?: string | undefined
  readonly accent?: string | undefined
  readonly hero?: string | undefined
  readonly sizes?: {
    readonly logo?: {
      readonly width: number
      readonly height: number
      readonly widths: readonly number[]
    } | undefined
    readonly hero?: {
      readonly width: number
      readonly height: number
      readonly widths: readonly number[]
    } | undefined
  } | undefined
  readonly words?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined
}

export interface Delivery {
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

export interface Access {
  readonly sign_in?: 'optional' | 'required' | undefined
  readonly invitation?: 'off' | 'required' | undefined
  readonly proof_of_work?: 'off' | 'auto' | number | null | undefined
  readonly turnstile?: boolean | undefined
}

export interface Line {
  readonly line: string
  readonly name?: Texts | null | undefined
  readonly weight?: number | undefined
  readonly opens_early_seconds?: number | undefined
  readonly access?: Access | null | undefined
}

export type ScheduledAction = {
  readonly action_id: string
  readonly cron: string | null
  readonly operator: string
  readonly next_at: string | null
  readonly not_after: string | null
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly suspended: {
    readonly at: string
    readonly by: string
    readonly reason: 'revoked' | 'demoted'
    readonly due_at: string
  } | null
  readonly action: 'restock'
  readonly product_id: string
  readonly quantity: number
} | {
  readonly action_id: string
  readonly cron: string | null
  readonly operator: string
  readonly next_at: string | null
  readonly not_after: string | null
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly suspended: {
    readonly at: string
    readonly by: string
    readonly reason: 'revoked' | 'demoted'
    readonly due_at: string
  } | null
  readonly action: 'rate'
  readonly rate_per_second: number
} | {
  readonly action_id: string
  readonly cron: string | null
  readonly operator: string
  readonly next_at: string | null
  readonly not_after: string | null
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly suspended: {
    readonly at: string
    readonly by: string
    readonly reason: 'revoked' | 'demoted'
    readonly due_at: string
  } | null
  readonly action: 'price'
  readonly product_id: string
  readonly unit_price_minor: number
} | {
  readonly action_id: string
  readonly cron: string | null
  readonly operator: string
  readonly next_at: string | null
  readonly not_after: string | null
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly suspended: {
    readonly at: string
    readonly by: string
    readonly reason: 'revoked' | 'demoted'
    readonly due_at: string
  } | null
  readonly action: 'pause'
  readonly reason?: Texts | undefined
} | {
  readonly action_id: string
  readonly cron: string | null
  readonly operator: string
  readonly next_at: string | null
  readonly not_after: string | null
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly suspended: {
    readonly at: string
    readonly by: string
    readonly reason: 'revoked' | 'demoted'
    readonly due_at: string
  } | null
  readonly action: 'resume'
} | {
  readonly action_id: string
  readonly cron: string | null
  readonly operator: string
  readonly next_at: string | null
  readonly not_after: string | null
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly suspended: {
    readonly at: string
    readonly by: string
    readonly reason: 'revoked' | 'demoted'
    readonly due_at: string
  } | null
  readonly action: 'announce'
  readonly level?: 'info' | 'warning' | undefined
  readonly text: Texts
} | {
  readonly action_id: string
  readonly cron: string | null
  readonly operator: string
  readonly next_at: string | null
  readonly not_after: string | null
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly suspended: {
    readonly at: string
    readonly by: string
    readonly reason: 'revoked' | 'demoted'
    readonly due_at: string
  } | null
  readonly action: 'end'
} | {
  readonly action_id: string
  readonly cron: string | null
  readonly operator: string
  readonly next_at: string | null
  readonly not_after: string | null
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly suspended: {
    readonly at: string
    readonly by: string
    readonly reason: 'revoked' | 'demoted'
    readonly due_at: string
  } | null
  readonly action: 'report'
  readonly to?: readonly string[] | undefined
} | {
  readonly action_id: string
  readonly cron: string | null
  readonly operator: string
  readonly next_at: string | null
  readonly not_after: string | null
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly suspended: {
    readonly at: string
    readonly by: string
    readonly reason: 'revoked' | 'demoted'
    readonly due_at: string
  } | null
  readonly action: 'export'
}

export type AddedAction = {
  readonly action_id: string
  readonly cron: string | null
  readonly operator: string
  readonly next_at: string | null
  readonly not_after: string | null
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly suspended: {
    readonly at: string
    readonly by: string
    readonly reason: 'revoked' | 'demoted'
    readonly due_at: string
  } | null
  readonly action: 'restock'
  readonly product_id: string
  readonly quantity: number
  readonly runs: readonly ({
    readonly due_at: string
    readonly ran_at: string
    readonly late: boolean
    readonly error: string | null
    readonly has_document: boolean
  })[]
} | {
  readonly action_id: string
  readonly cron: string | null
  readonly operator: string
  readonly next_at: string | null
  readonly not_after: string | null
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly suspended: {
    readonly at: string
    readonly by: string
    readonly reason: 'revoked' | 'demoted'
    readonly due_at: string
  } | null
  readonly action: 'rate'
  readonly rate_per_second: number
  readonly runs: readonly ({
    readonly due_at: string
    readonly ran_at: string
    readonly late: boolean
    readonly error: string | null
    readonly has_document: boolean
  })[]
} | {
  readonly action_id: string
  readonly cron: string | null
  readonly operator: string
  readonly next_at: string | null
  readonly not_after: string | null
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly suspended: {
    readonly at: string
    readonly by: string
    readonly reason: 'revoked' | 'demoted'
    readonly due_at: string
  } | null
  readonly action: 'price'
  readonly product_id: string
  readonly unit_price_minor: number
  readonly runs: readonly ({
    readonly due_at: string
    readonly ran_at: string
    readonly late: boolean
    readonly error: string | null
    readonly has_document: boolean
  })[]
} | {
  readonly action_id: string
  readonly cron: string | null
  readonly operator: string
  readonly next_at: string | null
  readonly not_after: string | null
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly suspended: {
    readonly at: string
    readonly by: string
    readonly reason: 'revoked' | 'demoted'
    readonly due_at: string
  } | null
  readonly action: 'pause'
  readonly reason?: Texts | undefined
  readonly runs: readonly ({
    readonly due_at: string
    readonly ran_at: string
    readonly late: boolean
    readonly error: string | null
    readonly has_document: boolean
  })[]
} | {
  readonly action_id: string
  readonly cron: string | null
  readonly operator: string
  readonly next_at: string | null
  readonly not_after: string | null
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly suspended: {
    readonly at: string
    readonly by: string
    readonly reason: 'revoked' | 'demoted'
    readonly due_at: string
  } | null
  readonly action: 'resume'
  readonly runs: readonly ({
    readonly due_at: string
    readonly ran_at: string
    readonly late: boolean
    readonly error: string | null
    readonly has_document: boolean
  })[]
} | {
  readonly action_id: string
  readonly cron: string | null
  readonly operator: string
  readonly next_at: string | null
  readonly not_after: string | null
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly suspended: {
    readonly at: string
    readonly by: string
    readonly reason: 'revoked' | 'demoted'
    readonly due_at: string
  } | null
  readonly action: 'announce'
  readonly level?: 'info' | 'warning' | undefined
  readonly text: Texts
  readonly runs: readonly ({
    readonly due_at: string
    readonly ran_at: string
    readonly late: boolean
    readonly error: string | null
    readonly has_document: boolean
  })[]
} | {
  readonly action_id: string
  readonly cron: string | null
  readonly operator: string
  readonly next_at: string | null
  readonly not_after: string | null
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly suspended: {
    readonly at: string
    readonly by: string
    readonly reason: 'revoked' | 'demoted'
    readonly due_at: string
  } | null
  readonly action: 'end'
  readonly runs: readonly ({
    readonly due_at: string
    readonly ran_at: string
    readonly late: boolean
    readonly error: string | null
    readonly has_document: boolean
  })[]
} | {
  readonly action_id: string
  readonly cron: string | null
  readonly operator: string
  readonly next_at: string | null
  readonly not_after: string | null
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly suspended: {
    readonly at: string
    readonly by: string
    readonly reason: 'revoked' | 'demoted'
    readonly due_at: string
  } | null
  readonly action: 'report'
  readonly to?: readonly string[] | undefined
  readonly runs: readonly ({
    readonly due_at: string
    readonly ran_at: string
    readonly late: boolean
    readonly error: string | null
    readonly has_document: boolean
  })[]
} | {
  readonly action_id: string
  readonly cron: string | null
  readonly operator: string
  readonly next_at: string | null
  readonly not_after: string | null
  readonly created_at: string
  readonly cancelled_at: string | null
  readonly suspended: {
    readonly at: string
    readonly by: string
    readonly reason: 'revoked' | 'demoted'
    readonly due_at: string
  } | null
  readonly action: 'export'
  readonly runs: readonly ({
    readonly due_at: string
    readonly ran_at: string
    readonly late: boolean
    readonly error: string | null
    readonly has_document: boolean
  })[]
}

export interface Post {
  readonly n: number
  readonly at: string
  readonly urgent: boolean
  readonly text: Readonly<Record<string, string>>
  readonly image?: Image | undefined
  readonly edited_at?: string | undefined
  readonly operator: string
  readonly level: 'info' | 'warning' | null
  readonly shown: boolean
  readonly until: string | null
  readonly removed_at: string | null
}

export interface Announcement {
  readonly id: string
  readonly level: 'info' | 'warning' | null
  readonly text: Texts
  readonly operator: string
  readonly since: string
  readonly until: string | null
}

export interface Rule {
  readonly rule: string
  readonly met: number
  readonly when: {
    readonly address?: string | undefined
    readonly asn?: number | undefined
    readonly country?: string | undefined
    readonly user_agent?: string | undefined
    readonly claim?: {
      readonly name: string
      readonly value: string | number | boolean
    } | undefined
    readonly line?: string | undefined
  }
  readonly action: 'allow' | 'prove' | 'last' | 'refuse'
  readonly note: string
}

export interface Block {
  readonly block: string
  readonly visitor?: string | undefined
  readonly account?: string | undefined
  readonly address?: string | undefined
  readonly note: string
  readonly blocked_at: string
}

export interface LiveSale {
  readonly state: SaleState
  readonly environment: {
    readonly name: string
    readonly payments: string
    readonly test: boolean
  }
  readonly summary: {
    readonly level: 'good' | 'watch' | 'bad'
    readonly text: string
    readonly needs: readonly ({
      readonly part: string
      readonly what: string
      readonly since: string
      readonly level: 'watch' | 'bad'
      readonly advice: string
      readonly place: {
        readonly text: string
        readonly href: string
      }
    })[]
    readonly parts: readonly ({
      readonly name: string
      readonly level: 'good' | 'watch' | 'bad' | 'unknown'
      readonly text: string
    })[]
  }
  readonly forecast: {
    readonly sold_out_at: string | null
  }
  readonly health: {
    readonly ledger: boolean
    readonly redis: boolean
    readonly edge_seconds: number | null
    readonly workers: number | null
    readonly provider: 'answers' | 'fails' | 'unused' | null
    readonly provider_ms: {
      readonly calls: number
      readonly half: number
      readonly most: number
    } | null
  }
  readonly backlogs: {
    readonly charges: {
      readonly waiting: number
      readonly oldest_seconds: number | null
    }
    readonly captures: {
      readonly waiting: number
      readonly oldest_seconds: number | null
    }
    readonly refunds: {
      readonly waiting: number
      readonly oldest_seconds: number | null
    }
    readonly webhooks: {
      readonly waiting: number
      readonly oldest_seconds: number | null
    }
    readonly mails: {
      readonly waiting: number
      readonly oldest_seconds: number | null
    }
    readonly intents: {
      readonly waiting: number
      readonly oldest_seconds: number | null
    } | null
  }
  readonly findings: readonly {
    readonly kind: string
    readonly product_id: string
    readonly subject: string
    readonly units: number
    readonly detail: unknown
    readonly first_seen_at: string
  }[]
  readonly rules: readonly Rule[]
  readonly funnel: {
    readonly joined: number
    readonly waiting: number | null
    readonly called: number | null
    readonly arrived: number | null
    readonly may_come: number | null
    readonly did_not_come: number | null
    readonly reserved: number
    readonly paid: number
    readonly revenue_minor: number
  }
  readonly minutes: readonly {
    readonly minute: string
    readonly counts: Readonly<Record<string, number>>
    readonly gauges: Readonly<Record<string, number>>
  }[]
  readonly before: Readonly<Record<string, number>>
  readonly read_at: string
}

export interface Report {
  readonly sale: string
  readonly name: string
  readonly test: boolean
  readonly phase: string
  readonly made_at: string
  readonly figures: {
    readonly joined: number | null
    readonly called: number | null
    readonly arrived: number | null
    readonly may_come: number | null
    readonly did_not_come: number | null
    readonly reserved: number
    readonly paid: number
    readonly refunded: number
    readonly by_status: Readonly<Record<string, number>>
    readonly most_waiting: number | null
    readonly revenue: readonly {
      readonly currency: string
      readonly paid_minor: number
      readonly refunded_minor: number
      readonly left_minor: number
    }[]
    readonly units: {
      readonly sold: number
      readonly held: number
      readonly free: number
      readonly withheld: number
      readonly total: number
    }
    readonly products: readonly {
      readonly product_id: string
      readonly name: string
      readonly currency: string
      readonly sold: number
      readonly held: number
      readonly free: number
      readonly withheld: number
      readonly total: number
      readonly sold_minor: number
    }[]
    readonly conversion: {
      readonly joined_to_arrived: number | null
      readonly arrived_to_reserved: number | null
      readonly reserved_to_paid: number | null
      readonly joined_to_paid: number | null
    }
    readonly opened_at: string
    readonly ended_at: string | null
    readonly all_in_carts_at: string | null
    readonly sold_out_at: string | null
    readonly duration_seconds: number
  }
  readonly curves: {
    readonly minutes_per_point: number
    readonly minutes: readonly {
      readonly minute: string
      readonly counts: Readonly<Record<string, number>>
      readonly gauges: Readonly<Record<string, number>>
    }[]
  }
  readonly fairness: readonly ({
    readonly line: string
    readonly draw: {
      readonly commitment: string
      readonly seed: string | null
      readonly beacon: string | null
      readonly beacon_announced: boolean
      readonly drawn: number
      readonly holds: boolean | null
      readonly schedule_url: string | null
      readonly verify: string
    } | null
    readonly compared: number
    readonly one_in: number
    readonly rank_correlation: number | null
    readonly overtaking: {
      readonly overtaken: number
      readonly worst_seconds: number
      readonly worst_positions: number
    } | null
    readonly before_turn: number | null
    readonly note: string | null
  })[]
  readonly attacks: {
    readonly refused: readonly {
      readonly at: string
      readonly reason: string
      readonly count: number
    }[]
    readonly rules: readonly {
      readonly note: string
      readonly action: string
      readonly met: number
    }[]
    readonly blocks: {
      readonly in_force: number
      readonly made_meanwhile: number
    }
  }
  readonly honest: {
    readonly units: number
    readonly outside: number
    readonly scripted: readonly {
      readonly network: string
      readonly joined: number
      readonly unproved: number
      readonly views: number
      readonly units: number
    }[]
  } | null
  readonly incidents: readonly ({
    readonly at: string
    readonly kind: 'action' | 'finding'
    readonly what: string
    readonly by: string | null
    readonly until: string | null
    readonly detail: Readonly<Record<string, unknown>>
  })[]
  readonly announcements: readonly ({
    readonly level: string
    readonly text: Texts
    readonly since: string
    readonly until: string | null
    readonly operator: string
  })[]
  readonly sources: readonly ({
    readonly key: string
    readonly views: number
    readonly joined: number
    readonly turns: number
    readonly reserved: number
    readonly paid: number
    readonly paid_minor: number
    readonly losses: {
      readonly viewed_to_joined: number | null
      readonly joined_to_turn: number | null
      readonly turn_to_reserved: number | null
      readonly reserved_to_paid: number | null
    }
  })[]
  readonly holds: {
    readonly abandoned: number
    readonly abandonment: number | null
    readonly mean_seconds: number | null
    readonly by_length: readonly ({
      readonly hold_seconds: number
      readonly reserved: number
      readonly paid: number
      readonly abandoned: number
      readonly conversion: number | null
      readonly median_seconds_to_pay: number | null
    })[]
  }
  readonly forecast: {
    readonly compared: number
    readonly median_error: number | null
    readonly worst_error: number | null
  }
  readonly expected_visitors: number | null
  readonly recounted: readonly ({
    readonly what: 'joined' | 'reserved' | 'paid' | 'sold'
    readonly live: number | null
    readonly now: number | null
  })[]
  readonly waits: {
    readonly compared: number
    readonly median_error_seconds: number | null
    readonly worst_error_seconds: number | null
    readonly minutes: readonly ({
      readonly minute: string
      readonly shown_seconds: number
      readonly real_seconds: number | null
    })[]
  }
}

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

export interface FoundOrder {
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
  readonly remaining?: number | undefined
  readonly order_token?: string | undefined
  readonly sale_name: string
  readonly product_name: string
  readonly visitor: string
  readonly ticket_number: number
  readonly charge_id: string | null
  readonly email?: string | undefined
  readonly picture: string | null
  readonly is_parcel: boolean
  readonly card: {
    readonly brand: string
    readonly last4: string
  } | null
  readonly payment_method: string | null
  readonly refunding_minor: number | null
}

export interface OrderHistory {
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
    readonly cost_minor: number
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
  readonly remaining?: number | undefined
  readonly order_token?: string | undefined
  readonly sale_name: string
  readonly product_name: string
  readonly visitor: string
  readonly ticket_number: number
  readonly charge_id: string | null
  readonly email?: string | undefined
  readonly picture: string | null
  readonly is_parcel: boolean
  readonly card: {
    readonly brand: string
    readonly last4: string
  } | null
  readonly payment_method: string | null
  readonly refunding_minor: number | null
  readonly bill: readonly ({
    readonly kind: 'discount' | 'fee' | 'shipping' | 'tax'
    readonly name: string
    readonly amount_minor: number
    readonly included?: true | undefined
  })[]
  readonly idempotency_key: string
  readonly attempts: number
  readonly reason_in_full: string | null
  readonly updated_at: string
  readonly contact: {
    readonly email: string | null
    readonly delivery: {
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
    } | null
    readonly address: string | null
    readonly language: string
    readonly delete_after: string
  } | null
  readonly block: {
    readonly block: string
    readonly note: string
    readonly blocked_at: string
  } | null
  readonly history: readonly ({
    readonly at: string
    readonly kind: 'event' | 'capture' | 'refund' | 'delivery' | 'mail' | 'action' | 'note'
    readonly what: string
    readonly by: string | null
    readonly detail: Readonly<Record<string, unknown>>
  })[]
}

export interface Chart {
  readonly version: number
  readonly focal_point: {
    readonly x: number
    readonly y: number
  }
  readonly categories: readonly ({
    readonly category: string
    readonly price_minor: number
    readonly price_to_minor?: number | undefined
  })[]
  readonly sections: readonly ({
    readonly section_id: string
    readonly name: string
    readonly type: 'reserved' | 'general_admission'
    readonly outline?: readonly (readonly [number, number])[] | undefined
    readonly seats: readonly ({
      readonly seat_id: string
      readonly row: string
      readonly number: string
      readonly category: string
      readonly kind: 'standard' | 'accessible' | 'companion' | 'restricted_view'
      readonly price_minor: number
      readonly place: number
      readonly x: number
      readonly y: number
    })[]
  })[]
}

export interface Section {
  readonly section_id: string
  readonly name: string
  readonly type: 'reserved' | 'general_admission'
  readonly total: number
  readonly available: number
  readonly held: number
  readonly sold: number
  readonly blocked: number
  readonly price_minor: number
  readonly currency: string
}

export interface Webhook {
  readonly endpoint: string
  readonly url: string
  readonly events: readonly ('*' | 'order.reserved' | 'order.paying' | 'order.confirmed' | 'order.declined' | 'order.expired' | 'order.cancelled' | 'order.refunded' | 'order.fulfilled' | 'sale.opened' | 'sale.paused' | 'sale.sold_out' | 'sale.restocked' | 'sale.ended' | 'finding.opened')[]
  readonly state: 'active' | 'paused'
  readonly note: string
  readonly secret: string
  readonly secrets_live: number
  readonly created_at: string
  readonly waiting?: number | undefined
  readonly oldest_seconds?: number | null | undefined
  readonly dead?: number | undefined
  readonly failure?: string | null | undefined
  readonly reason?: string | null | undefined
  readonly fails_since?: string | null | undefined
  readonly next_attempt_at?: string | null | undefined
  readonly accepted_at?: string | null | undefined
  readonly sent_day?: number | undefined
  readonly median_ms?: number | null | undefined
}

export interface SaleThen {
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
  readonly products: readonly Product[]
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
  readonly pause_reason: Texts | null
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
  readonly delivery: Delivery
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

/** A problem (RFC 9457). Some types have more fields, which their page describes. */
export interface Problem {
  /** The address of a page about the type, relative to the call. */
  readonly type: string
  readonly title: string
  /** The status of the response. */
  readonly status: number
  /** A sentence for the reader: what happened, and what to do. */
  readonly detail: string
  /** The same as the header x-request-id: the request in the logs. */
  readonly request_id?: string | undefined
  /** The same as the header Retry-After. */
  readonly retry_after_seconds?: number | undefined
  /** What is wrong with each field, by its path in the body. */
  readonly errors?: readonly {
    readonly field: string
    readonly detail: string
  }[] | undefined
}

/** The calls by name: what each takes, and what it answers. */
export interface OperatorsCalls {
  /**
   * The sales in use, with their states.
   * A sale that ended long ago is read by its id. `findings` counts the open ones of each sale.
   * Role: `viewer`.
   */
  readonly listSales: {
    readonly answer: {
      readonly sales: readonly SaleState[]
      readonly findings: Readonly<Record<string, number>>
    }
  }
  /**
   * A sale: its configuration and its state.
   * The invariant is `available` + `held` + `sold` + `buffer` = `total`.
   * Role: `viewer`.
   */
  readonly getSale: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: Sale
  }
  /**
   * Create a sale, or change it.
   * All fields are sent, as `GET` answers them; what only a `GET` has is ignored.
   * Role: `operator`.
   */
  readonly putSale: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly headers?: {
      /** The ETag that the change was made for. Without it the call overwrites what others did. */
      readonly 'if-match'?: string | undefined
    }
    readonly body: SaleConfig
    readonly answer: Sale
  }
  /**
   * Open a sale now.
   * Role: `operator`.
   */
  readonly openSale: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: Sale
  }
  /**
   * Stop the line; everyone keeps their place.
   * Role: `operator`.
   */
  readonly pauseSale: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly body?: {
      readonly reason?: Readonly<Record<string, string>> | undefined
    }
    readonly answer: Sale | SteeredSale
  }
  /**
   * Let the line move again.
   * Role: `operator`.
   */
  readonly resumeSale: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: Sale | SteeredSale
  }
  /**
   * End a sale, for good.
   * Role: `operator`.
   */
  readonly endSale: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: Sale
  }
  /**
   * Change the rate of admissions, without a jump of the line.
   * Role: `operator`.
   */
  readonly setRate: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly body: {
      readonly rate_per_second: number
    }
    readonly answer: Sale
  }
  /**
   * Add units, or places of a standing section.
   * A sold-out sale is live again.
   * Role: `operator`.
   */
  readonly restock: {
    readonly path: {
      /** The sale. */
      readonly sale: string
      /** The product or the standing section. */
      readonly product: string
    }
    readonly headers?: {
      /** The same for each repetition of the call, which then has one effect. */
      readonly 'idempotency-key'?: string | undefined
    }
    readonly body: {
      readonly quantity: number
    }
    readonly answer: Sale
  }
  /**
   * Compare the fast gate, the ledger and the orders, and repair what differs.
   * Role: `operator`.
   */
  readonly reconcile: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly query?: {
      /** What is done if live orders exceed the stock, where the sale leaves it to an operator. */
      readonly oversell?: 'alarm' | 'cancel_latest' | 'fulfil_from_buffer' | undefined
    }
    readonly answer: {
      readonly sale: string
      readonly findings: readonly ({
        readonly product_id: string
        readonly found: 'ok' | 'fenced' | 'drift'
        readonly drift: number
        readonly ledger: {
          readonly total: number
          readonly available: number
          readonly held: number
          readonly sold: number
        }
        readonly healed: boolean
        readonly recount?: {
          readonly found: 'ok' | 'miscounted' | 'oversold'
          readonly units: number
          readonly healed: boolean
          readonly outcome?: string | undefined
        } | undefined
      })[]
    }
  }
  /**
   * A running sale, at most a second old.
   * With `Accept: text/event-stream` an event `live` each second, whose data are the same JSON.
   * Role: `viewer`.
   */
  readonly followSale: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: LiveSale | string
  }
  /**
   * The report of a sale, also while it runs.
   * Role: `viewer`.
   */
  readonly getReport: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: Report
  }
  /**
   * What became of the visitors from each source.
   * `key` is the label of the source, `typed` without one, and `other` for rare ones and for what could name a person. The one that paid most is first.
   * Role: `viewer`.
   */
  readonly getFunnel: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly query: {
      /** What the rows are by. */
      readonly by: 'source'
    }
    readonly answer: {
      readonly rows: readonly {
        readonly key: string
        readonly views: number
        readonly joined: number
        readonly turns: number
        readonly reserved: number
        readonly paid: number
        readonly paid_minor: number
      }[]
    }
  }
  /**
   * A sale by the second, at most fifteen minutes at once.
   * Kept are the last fifteen minutes, and the first fifteen of the opening. Null: nobody counted.
   * Role: `viewer`.
   */
  readonly getSeconds: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly query?: {
      /** Entries before this time are left out. */
      readonly from?: string | undefined
      /** Entries at or after this time are left out. */
      readonly to?: string | undefined
    }
    readonly answer: {
      readonly opens_at: string
      readonly until: string
      readonly seconds: readonly ({
        readonly at: string
        readonly called: number | null
        readonly arrived: number | null
        readonly joined: number | null
        readonly reserved: number | null
        readonly paid: number | null
        readonly declined: number | null
        readonly paid_minor: number | null
        readonly waiting: number | null
        readonly held: number | null
        readonly sold: number | null
        readonly asked: number | null
      })[]
      readonly markers: readonly ({
        readonly at: string
        readonly action: string
        readonly by: string
        readonly product_id: string | null
        readonly before: Readonly<Record<string, unknown>> | null
        readonly after: Readonly<Record<string, unknown>> | null
      })[]
    }
  }
  /**
   * What is, or was, not as it should be in a sale.
   * Role: `viewer`.
   */
  readonly listSaleFindings: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: {
      readonly findings: readonly ({
        readonly product_id: string
        readonly kind: string
        readonly subject: string
        readonly units: number
        readonly detail: unknown
        readonly seen: number
        readonly first_seen_at: string
        readonly last_seen_at: string
        readonly closed_at: string | null
        readonly outcome: string | null
      })[]
      readonly changes: readonly ({
        readonly at: string
        readonly actor: string
        readonly action: string
        readonly product_id: string | null
        readonly order_id: string | null
        readonly before: unknown
        readonly after: unknown
      })[]
    }
  }
  /**
   * The address of a sale’s pages in every state, for an hour.
   * Role: `viewer`.
   */
  readonly getPreview: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly query: {
      /** The scheme and host of the page that frames them. */
      readonly from: string
    }
    readonly answer: {
      readonly url: string
      readonly query: string
      readonly states: readonly string[]
    }
  }
  /**
   * A page of a sale that is not saved.
   * Role: `operator`.
   */
  readonly previewDraft: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly body: {
      readonly sale: SaleConfig
      readonly state: string
      readonly lang?: 'en' | 'de' | 'fr' | 'es' | 'ja' | 'ar' | undefined
      readonly look?: 'light' | 'dark' | undefined
    }
    readonly answer: string
  }
  /**
   * All posts of a sale, also those that were taken away.
   * Role: `viewer`.
   */
  readonly listPosts: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: {
      readonly posts: readonly Post[]
    }
  }
  /**
   * Publish a post.
   * An urgent one is on top of all pages, until a time or the next one.
   * Role: `operator`.
   */
  readonly publishPost: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly body: {
      readonly text: Readonly<Record<string, string>>
      readonly urgent?: boolean | undefined
      readonly image?: {
        readonly url: string
        readonly alt?: string | undefined
        readonly width?: number | undefined
        readonly height?: number | undefined
        readonly widths?: readonly number[] | undefined
      } | undefined
      readonly until?: string | undefined
    }
    readonly answer: Post
  }
  /**
   * Edit a post; what is left out stays.
   * Role: `operator`.
   */
  readonly editPost: {
    readonly path: {
      /** The sale. */
      readonly sale: string
      /** The number of the post. */
      readonly n: string
    }
    readonly body: {
      readonly text?: Readonly<Record<string, string>> | undefined
      readonly urgent?: boolean | undefined
      readonly image?: {
        readonly url: string
        readonly alt?: string | undefined
        readonly width?: number | undefined
        readonly height?: number | undefined
        readonly widths?: readonly number[] | undefined
      } | null | undefined
      readonly until?: string | null | undefined
    }
    readonly answer: Post
  }
  /**
   * Take a post away.
   * Role: `operator`.
   */
  readonly removePost: {
    readonly path: {
      /** The sale. */
      readonly sale: string
      /** The number of the post. */
      readonly n: string
    }
    readonly answer: undefined
  }
  /**
   * Show an announcement on all pages.
   * It is an urgent post, and replaces the announcement before.
   * Role: `operator`.
   */
  readonly announce: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly body: {
      readonly level?: 'info' | 'warning' | undefined
      readonly text: Readonly<Record<string, string>>
      readonly until?: string | undefined
    }
    readonly answer: Announcement
  }
  /**
   * Take the announcement back.
   * Role: `operator`.
   */
  readonly endAnnouncement: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: undefined
  }
  /**
   * All announcements of a sale.
   * Role: `viewer`.
   */
  readonly listAnnouncements: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: {
      readonly announcements: readonly Announcement[]
    }
  }
  /**
   * The scheduled actions of a sale, with their latest runs.
   * Role: `viewer`.
   */
  readonly listScheduledActions: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: {
      readonly scheduled: readonly AddedAction[]
    }
  }
  /**
   * Schedule an action.
   * `at` or `cron`, and an action with the fields of the call of its name.
   * Role: `operator`.
   */
  readonly schedule: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly headers?: {
      /** The same for each repetition of the call, which then has one effect. */
      readonly 'idempotency-key'?: string | undefined
    }
    readonly body: {
      readonly at?: string | undefined
      readonly cron?: string | undefined
      readonly not_after?: string | undefined
      readonly action: 'restock'
      readonly product_id: string
      readonly quantity: number
    } | {
      readonly at?: string | undefined
      readonly cron?: string | undefined
      readonly not_after?: string | undefined
      readonly action: 'rate'
      readonly rate_per_second: number
    } | {
      readonly at?: string | undefined
      readonly cron?: string | undefined
      readonly not_after?: string | undefined
      readonly action: 'price'
      readonly product_id: string
      readonly unit_price_minor: number
    } | {
      readonly at?: string | undefined
      readonly cron?: string | undefined
      readonly not_after?: string | undefined
      readonly action: 'pause'
      readonly reason?: Readonly<Record<string, string>> | undefined
    } | {
      readonly at?: string | undefined
      readonly cron?: string | undefined
      readonly not_after?: string | undefined
      readonly action: 'resume'
    } | {
      readonly at?: string | undefined
      readonly cron?: string | undefined
      readonly not_after?: string | undefined
      readonly action: 'announce'
      readonly level?: 'info' | 'warning' | undefined
      readonly text: Readonly<Record<string, string>>
    } | {
      readonly at?: string | undefined
      readonly cron?: string | undefined
      readonly not_after?: string | undefined
      readonly action: 'end'
    } | {
      readonly at?: string | undefined
      readonly cron?: string | undefined
      readonly not_after?: string | undefined
      readonly action: 'report'
      readonly to?: readonly string[] | undefined
    } | {
      readonly at?: string | undefined
      readonly cron?: string | undefined
      readonly not_after?: string | undefined
      readonly action: 'export'
    }
    readonly answer: AddedAction
  }
  /**
   * Cancel a scheduled action.
   * Role: `operator`.
   */
  readonly cancelAction: {
    readonly path: {
      /** The sale. */
      readonly sale: string
      /** The scheduled action. */
      readonly action: string
    }
    readonly answer: undefined
  }
  /**
   * Run an action that failed or is to come now, in the caller’s name.
   * Role: `operator`.
   */
  readonly runAction: {
    readonly path: {
      /** The sale. */
      readonly sale: string
      /** The scheduled action. */
      readonly action: string
    }
    readonly answer: ScheduledAction
  }
  /**
   * Resume an action whose operator lost the role for it.
   * Role: `owner`.
   */
  readonly resumeAction: {
    readonly path: {
      /** The sale. */
      readonly sale: string
      /** The scheduled action. */
      readonly action: string
    }
    readonly answer: ScheduledAction
  }
  /**
   * What a run has kept: a report, or the orders as NDJSON.
   * The orders have neither visitors nor addresses.
   * Role: `viewer`.
   */
  readonly getDocument: {
    readonly path: {
      /** The sale. */
      readonly sale: string
      /** The scheduled action. */
      readonly action: string
      /** When the run was due. */
      readonly due: string
    }
    readonly answer: Report | string
  }
  /**
   * How many invitations there are, and how many were used.
   * Role: `viewer`.
   */
  readonly countInvitations: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: {
      readonly invitations: number
      readonly uses: number
      readonly used: number
    }
  }
  /**
   * Import codes, all or none.
   * The body is read as it arrives, and must arrive within 30 seconds.
   * Role: `operator`.
   */
  readonly importInvitations: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly query?: {
      /** Codes that are not in the list are dropped. */
      readonly replace?: 'true' | undefined
    }
    readonly body: { readonly file: BodyInit; readonly type: 'text/csv' | 'application/x-ndjson' }
    readonly answer: {
      readonly imported: number
      readonly invitations: number
      readonly uses: number
      readonly used: number
    }
  }
  /**
   * Make signed links, or void those that were made.
   * Role: `operator`.
   */
  readonly signInvitations: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly body: {
      readonly count?: number | undefined
      readonly uses?: number | undefined
      readonly valid_for_seconds?: number | undefined
    } | {
      readonly void_before: string
    }
    readonly answer: {
      readonly void_before: string
    } | string
  }
  /**
   * The rules of a sale, in their order.
   * The first that matches a new visitor decides. `met` counts how often.
   * Role: `viewer`.
   */
  readonly listRules: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: {
      readonly rules: readonly Rule[]
    }
  }
  /**
   * Add a rule, after the others.
   * Role: `operator`.
   */
  readonly addRule: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly body: RuleConfig
    readonly answer: Rule
  }
  /**
   * Change a rule; what is left out stays.
   * Role: `operator`.
   */
  readonly changeRule: {
    readonly path: {
      /** The sale. */
      readonly sale: string
      /** The rule. */
      readonly rule: string
    }
    readonly body: {
      readonly rule?: unknown | undefined
      readonly met?: unknown | undefined
      readonly when?: {
        readonly address?: string | undefined
        readonly asn?: number | undefined
        readonly country?: string | undefined
        readonly user_agent?: string | undefined
        readonly claim?: {
          readonly name: string
          readonly value: string | number | boolean
        } | undefined
        readonly line?: string | undefined
      } | undefined
      readonly action?: 'allow' | 'prove' | 'last' | 'refuse' | undefined
      readonly note?: string | undefined
    }
    readonly answer: Rule
  }
  /**
   * Remove a rule.
   * Role: `operator`.
   */
  readonly removeRule: {
    readonly path: {
      /** The sale. */
      readonly sale: string
      /** The rule. */
      readonly rule: string
    }
    readonly answer: undefined
  }
  /**
   * The visitors who are blocked from all sales.
   * Role: `viewer`.
   */
  readonly listBlocks: {
    readonly answer: {
      readonly blocks: readonly Block[]
    }
  }
  /**
   * Block a visitor, an account, a network address, or the buyer of an order.
   * Their unpaid orders are cancelled.
   * Role: `operator`.
   */
  readonly block: {
    readonly body: {
      readonly block?: unknown | undefined
      readonly visitor?: string | undefined
      readonly account?: string | undefined
      readonly address?: string | undefined
      readonly order?: string | undefined
      readonly note?: string | undefined
    }
    readonly answer: Block
  }
  /**
   * Remove a block.
   * Role: `operator`.
   */
  readonly unblock: {
    readonly path: {
      /** The block. */
      readonly block: string
    }
    readonly answer: undefined
  }
  /**
   * The promo codes of a sale, with how often each is used.
   * Role: `viewer`.
   */
  readonly listPromoCodes: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: {
      readonly sale: string
      readonly codes: readonly ({
        readonly code: string
        readonly percent?: number | undefined
        readonly amount_minor?: number | undefined
        readonly price_minor?: number | undefined
        readonly uses: number | null
        readonly uses_per_visitor: number | null
        readonly units_per_use: number | null
        readonly from: string | null
        readonly until: string | null
        readonly products: readonly string[] | null
        readonly combined: boolean
        readonly used: number
      })[]
    }
  }
  /**
   * Replace all promo codes of a sale, or none.
   * Role: `operator`.
   */
  readonly putPromoCodes: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly headers?: {
      /** The ETag that the change was made for. Without it the call overwrites what others did. */
      readonly 'if-match'?: string | undefined
    }
    readonly body: readonly PromoCode[] | { readonly file: BodyInit; readonly type: 'text/csv' }
    readonly answer: {
      readonly sale: string
      readonly codes: readonly ({
        readonly code: string
        readonly percent?: number | undefined
        readonly amount_minor?: number | undefined
        readonly price_minor?: number | undefined
        readonly uses: number | null
        readonly uses_per_visitor: number | null
        readonly units_per_use: number | null
        readonly from: string | null
        readonly until: string | null
        readonly products: readonly string[] | null
        readonly combined: boolean
        readonly used: number
      })[]
    }
  }
  /**
   * What an import would understand; changes nothing.
   * Role: `operator`.
   */
  readonly checkPromoCodes: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly body: { readonly file: BodyInit; readonly type: 'text/csv' }
    readonly answer: {
      readonly understood: readonly ({
        readonly line: number
        readonly code: {
          readonly used?: unknown | undefined
          readonly code: string
          readonly percent?: number | undefined
          readonly amount_minor?: number | undefined
          readonly price_minor?: number | undefined
          readonly uses?: number | null | undefined
          readonly uses_per_visitor?: number | null | undefined
          readonly units_per_use?: number | null | undefined
          readonly from?: string | null | undefined
          readonly until?: string | null | undefined
          readonly products?: readonly string[] | null | undefined
          readonly combined?: boolean | undefined
        }
      })[]
      readonly refused: readonly ({
        readonly line: number | null
        readonly code: string
        readonly field: string | null
        readonly why: string
      })[]
      readonly refused_count: number
    }
  }
  /**
   * Upload a picture, or have it fetched.
   * The file of a form, the bytes themselves, or the address of a picture elsewhere. At most 15 MB.
   * Role: `operator`.
   */
  readonly addPicture: {
    readonly body: {
      readonly url: string
    } | { readonly file: BodyInit; readonly type: 'multipart/form-data' | string | 'application/octet-stream' }
    readonly answer: {
      readonly image: string
      readonly url: string
      readonly widths: readonly number[]
      readonly width: number
      readonly height: number
    }
  }
  /**
   * The rules by which views count, with what each drops.
   * Role: `viewer`.
   */
  readonly listViewRules: {
    readonly answer: {
      readonly rules: readonly ({
        readonly rule: string
        readonly kind: 'min_seconds' | 'repeat' | 'bots' | 'data_centres' | 'staff' | 'rate' | 'addresses' | 'networks'
        readonly on: boolean
        readonly note: string
        readonly dropped: number
        readonly examples: readonly ({
          readonly at: string
          readonly sale: string | null
          readonly page: string
          readonly source: string
          readonly country: string | null
          readonly network: string
          readonly device: string
          readonly language: string | null
        })[]
      } & Readonly<Record<string, unknown>>)[]
    }
  }
  /**
   * Replace the rules by which views count.
   * Role: `operator`.
   */
  readonly putViewRules: {
    readonly body: ViewRuleList
    readonly answer: {
      readonly rules: readonly ({
        readonly rule: string
        readonly kind: 'min_seconds' | 'repeat' | 'bots' | 'data_centres' | 'staff' | 'rate' | 'addresses' | 'networks'
        readonly on: boolean
        readonly note: string
        readonly dropped: number
        readonly examples: readonly ({
          readonly at: string
          readonly sale: string | null
          readonly page: string
          readonly source: string
          readonly country: string | null
          readonly network: string
          readonly device: string
          readonly language: string | null
        })[]
      } & Readonly<Record<string, unknown>>)[]
    }
  }
  /**
   * What rules would have counted in the last hours; changes nothing.
   * Role: `operator`.
   */
  readonly tryViewRules: {
    readonly body: {
      readonly rules: readonly ({
        readonly dropped?: unknown | undefined
        readonly examples?: unknown | undefined
        readonly kind: 'min_seconds'
        readonly rule?: string | undefined
        readonly on?: boolean | undefined
        readonly note?: string | undefined
        readonly seconds: number
      } | {
        readonly dropped?: unknown | undefined
        readonly examples?: unknown | undefined
        readonly kind: 'repeat'
        readonly rule?: string | undefined
        readonly on?: boolean | undefined
        readonly note?: string | undefined
        readonly minutes: number
      } | {
        readonly dropped?: unknown | undefined
        readonly examples?: unknown | undefined
        readonly kind: 'bots'
        readonly rule?: string | undefined
        readonly on?: boolean | undefined
        readonly note?: string | undefined
      } | {
        readonly dropped?: unknown | undefined
        readonly examples?: unknown | undefined
        readonly kind: 'data_centres'
        readonly rule?: string | undefined
        readonly on?: boolean | undefined
        readonly note?: string | undefined
      } | {
        readonly dropped?: unknown | undefined
        readonly examples?: unknown | undefined
        readonly kind: 'staff'
        readonly rule?: string | undefined
        readonly on?: boolean | undefined
        readonly note?: string | undefined
        readonly addresses: readonly string[]
      } | {
        readonly dropped?: unknown | undefined
        readonly examples?: unknown | undefined
        readonly kind: 'rate'
        readonly rule?: string | undefined
        readonly on?: boolean | undefined
        readonly note?: string | undefined
        readonly views: number
        readonly minutes: number
        readonly per: 'pseudonym' | 'address'
      } | {
        readonly dropped?: unknown | undefined
        readonly examples?: unknown | undefined
        readonly kind: 'addresses'
        readonly rule?: string | undefined
        readonly on?: boolean | undefined
        readonly note?: string | undefined
        readonly list: readonly string[]
      } | {
        readonly dropped?: unknown | undefined
        readonly examples?: unknown | undefined
        readonly kind: 'networks'
        readonly rule?: string | undefined
        readonly on?: boolean | undefined
        readonly note?: string | undefined
        readonly asns: readonly number[]
      })[]
      readonly sale: string
      readonly hours: number
    }
    readonly answer: {
      readonly counted: number
      readonly dropped: number
      readonly by_rule: readonly {
        readonly rule: string
        readonly dropped: number
      }[]
      readonly more_dropped: readonly {
        readonly key: string
        readonly views: number
      }[]
    }
  }
  /**
   * The views of a sale.
   * Role: `viewer`.
   */
  readonly getViews: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly query?: {
      /** Entries before this time are left out. */
      readonly from?: string | undefined
      /** Entries at or after this time are left out. */
      readonly to?: string | undefined
      /** What the rows are by. */
      readonly by?: 'minute' | 'page' | 'source' | 'country' | 'device' | 'language' | 'network' | undefined
    }
    readonly answer: {
      readonly counted: number
      readonly dropped: number
      readonly uniques: number | null
      readonly on_pages: number | null
      readonly mean_seconds: number | null
      readonly rows: readonly ({
        readonly key: string
        readonly counted: number
        readonly dropped: number
        readonly uniques: number | null
      })[]
      readonly by_rule: readonly {
        readonly rule: string
        readonly dropped: number
      }[]
      readonly as_of: string
      readonly behind_seconds: number
    }
  }
  /**
   * Count minutes of the last 23 hours again, by the rules in force.
   * Role: `operator`.
   */
  readonly recountViews: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly body: {
      readonly from: string
      readonly to: string
    }
    readonly answer: {
      readonly counted: number
      readonly dropped: number
      readonly before: {
        readonly counted: number
        readonly dropped: number
      }
    }
  }
  /**
   * The counted views of the last day, without visitors.
   * Role: `viewer`.
   */
  readonly exportViews: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly query?: {
      /** The cursor of a line. */
      readonly after?: string | undefined
    }
    readonly answer: string
  }
  /**
   * Find orders, or follow all changes of orders.
   * With `q`, `status`, `product`, `from`, `to` or `problem` it is a search, whose orders come newest first. Without any of them it is the feed of all changes, complete and in order of commit: begin without `after`, go on with `next`, also after an empty page. With `Accept: application/x-ndjson` each change is a line, and `next` the header Next-Cursor.
   * Role: `viewer`.
   */
  readonly listOrders: {
    readonly query?: {
      /** The sale that the entries must belong to. */
      readonly sale?: string | undefined
      /** The product or section that a line of the order must have. */
      readonly product?: string | undefined
      /** Entries before this time are left out. */
      readonly from?: string | undefined
      /** Entries at or after this time are left out. */
      readonly to?: string | undefined
      /** Short number, id, visitor, account, address, mail, charge, ticket number, product, seat or note; empty for all. */
      readonly q?: string | undefined
      /** Several have commas between them. */
      readonly status?: string | undefined
      /** Orders with a problem only. */
      readonly problem?: 'true' | undefined
      /** The largest number of entries in the answer. */
      readonly limit?: string | undefined
      /** The `next` of the page before. */
      readonly after?: string | undefined
    }
    readonly answer: {
      readonly orders: readonly FoundOrder[]
      readonly next: string | null
    } | {
      readonly changes: readonly ({
        readonly cursor: string
        readonly type: string
        readonly timestamp: string
        readonly data: Order | {
          readonly order_id: string
          readonly status: string | null
        }
      })[]
      readonly next: string
    } | string
  }
  /**
   * Orders by status.
   * Role: `viewer`.
   */
  readonly countOrders: {
    readonly query?: {
      /** The sale that the entries must belong to. */
      readonly sale?: string | undefined
      /** The product or section that a line of the order must have. */
      readonly product?: string | undefined
      /** Entries before this time are left out. */
      readonly from?: string | undefined
      /** Entries at or after this time are left out. */
      readonly to?: string | undefined
    }
    readonly answer: {
      readonly counts: {
        readonly reserved: number
        readonly paying: number
        readonly confirmed: number
        readonly fulfilled: number
        readonly expired: number
        readonly cancelled: number
        readonly refunded: number
      } | null
      readonly problems: number | null
    }
  }
  /**
   * The orders that filters find, to download.
   * Role: `viewer`.
   */
  readonly exportFoundOrders: {
    readonly query?: {
      /** The sale that the entries must belong to. */
      readonly sale?: string | undefined
      /** The product or section that a line of the order must have. */
      readonly product?: string | undefined
      /** Entries before this time are left out. */
      readonly from?: string | undefined
      /** Entries at or after this time are left out. */
      readonly to?: string | undefined
      /** Short number, id, visitor, account, address, mail, charge, ticket number, product, seat or note; empty for all. */
      readonly q?: string | undefined
      /** Several have commas between them. */
      readonly status?: string | undefined
      /** Orders with a problem only. */
      readonly problem?: 'true' | undefined
      /** These orders, with commas between them, whatever the filters say. */
      readonly orders?: string | undefined
      /** NDJSON if it is left out. */
      readonly format?: 'csv' | 'ndjson' | undefined
    }
    readonly answer: string
  }
  /**
   * An order with its buyer and its history.
   * Role: `viewer`.
   */
  readonly getOrderHistory: {
    readonly path: {
      /** The order. */
      readonly order: string
    }
    readonly answer: OrderHistory
  }
  /**
   * Write a note about an order.
   * Role: `operator`.
   */
  readonly addNote: {
    readonly path: {
      /** The order. */
      readonly order: string
    }
    readonly body: {
      readonly text: string
    }
    readonly answer: {
      readonly operator: string
      readonly text: string
      readonly at: string
    }
  }
  /**
   * Mark a confirmed order as sent.
   * Role: `operator`.
   */
  readonly fulfil: {
    readonly path: {
      /** The order. */
      readonly order: string
    }
    readonly answer: Order
  }
  /**
   * Mark a confirmed order of a sale as sent.
   * Role: `operator`.
   */
  readonly fulfilInSale: {
    readonly path: {
      /** The sale. */
      readonly sale: string
      /** The order. */
      readonly order: string
    }
    readonly answer: Order
  }
  /**
   * Give money back.
   * That amount, the price of the lines, or all that is left. Money and units are apart: without `restock` the units stay sold.
   * Role: `operator`.
   */
  readonly refund: {
    readonly path: {
      /** The order. */
      readonly order: string
    }
    readonly headers: {
      /** The same for each repetition of the call, which then has one effect. */
      readonly 'idempotency-key': string
    }
    readonly body: {
      readonly lines?: readonly number[] | undefined
      readonly amount_minor?: number | undefined
      readonly reason?: string | undefined
      readonly restock?: boolean | undefined
    }
    readonly answer: Order
  }
  /**
   * Sell units of a refunded order again.
   * Role: `operator`.
   */
  readonly returnUnits: {
    readonly path: {
      /** The order. */
      readonly order: string
    }
    readonly body?: {
      readonly lines?: readonly number[] | undefined
    }
    readonly answer: Order
  }
  /**
   * Cancel an order, or lines of it, that is not sent.
   * What was paid is given back, and the units are for sale again.
   * Role: `operator`.
   */
  readonly cancelByShop: {
    readonly path: {
      /** The order. */
      readonly order: string
    }
    readonly headers?: {
      /** The same for each repetition of the call, which then has one effect. */
      readonly 'idempotency-key'?: string | undefined
    }
    readonly body?: {
      readonly lines?: readonly number[] | undefined
      readonly reason?: string | undefined
    }
    readonly answer: Order
  }
  /**
   * Move a line to a free seat, at the same price.
   * Role: `operator`.
   */
  readonly moveSeat: {
    readonly path: {
      /** The order. */
      readonly order: string
    }
    readonly body: {
      readonly line: number
      readonly seat_id: string
      readonly section_id?: string | undefined
    }
    readonly answer: Order
  }
  /**
   * All orders of a sale, to download.
   * Role: `viewer`.
   */
  readonly exportOrders: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly query?: {
      /** NDJSON if it is left out. */
      readonly format?: 'csv' | 'ndjson' | undefined
    }
    readonly answer: string
  }
  /**
   * Sell without a payment page.
   * Also before the opening and while paused, and beyond the limits of visitors.
   * Role: `operator`.
   */
  readonly sellAtBoxOffice: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly headers: {
      /** The same for each repetition of the call, which then has one effect. */
      readonly 'idempotency-key': string
    }
    readonly body: {
      readonly lines: unknown
      readonly note?: string | undefined
      readonly contact?: {
        readonly email: string
      } | undefined
    }
    readonly answer: Order
  }
  /**
   * Export what is kept of a person.
   * The rows of the ledger by table, the counts in Redis, and the places in line; these are null where the edge did not answer. The name is as in the orders: `user:` and the account for who signs in.
   * Role: `owner`.
   */
  readonly exportVisitor: {
    readonly path: {
      /** The visitor, or `user:` and the account. */
      readonly visitor: string
    }
    readonly answer: {
      readonly visitor: string
      readonly ledger: Readonly<Record<string, readonly Readonly<Record<string, Readonly<Record<string, unknown>>>>[]>>
      readonly redis: readonly Readonly<Record<string, Readonly<Record<string, unknown>>>>[]
      readonly places: readonly Readonly<Record<string, Readonly<Record<string, unknown>>>>[] | null
    }
  }
  /**
   * Forget a person.
   * Repeating it is harmless. What a running sale still needs goes when it is over. `sales_unreached` is the number of sales whose ticket shards did not answer: repeat the call.
   * Role: `owner`.
   */
  readonly forgetVisitor: {
    readonly path: {
      /** The visitor, or `user:` and the account. */
      readonly visitor: string
    }
    readonly answer: {
      readonly contacts: number
      readonly notes: number
      readonly orders: number
      readonly orders_later: number
      readonly sales_unreached: number
    }
  }
  /**
   * Create a section, or change it.
   * The seats of a `reserved` section are its total; a `general_admission` section has a `total`.
   * Role: `operator`.
   */
  readonly putSection: {
    readonly path: {
      /** The sale. */
      readonly sale: string
      /** The section. */
      readonly section: string
    }
    readonly body: {
      readonly section_id?: unknown | undefined
      readonly available?: unknown | undefined
      readonly held?: unknown | undefined
      readonly sold?: unknown | undefined
      readonly blocked?: unknown | undefined
      readonly name: string
      readonly type: 'reserved' | 'general_admission'
      readonly total?: number | undefined
      readonly price_minor: number
      readonly currency: string
      readonly order?: number | undefined
      readonly outline?: readonly (readonly [number, number])[] | undefined
    }
    readonly answer: Section
  }
  /**
   * Remove a section without orders, with its seats.
   * Role: `operator`.
   */
  readonly removeSection: {
    readonly path: {
      /** The sale. */
      readonly sale: string
      /** The section. */
      readonly section: string
    }
    readonly answer: undefined
  }
  /**
   * Import the seats of a section, all or none.
   * Role: `operator`.
   */
  readonly importSeats: {
    readonly path: {
      /** The sale. */
      readonly sale: string
      /** The section. */
      readonly section: string
    }
    readonly query?: {
      /** The answer says what the import would change, and nothing is changed. */
      readonly preview?: 'true' | undefined
      /** Seats that orders have may get other names, too. */
      readonly confirm?: 'true' | undefined
    }
    readonly body: readonly ({
      readonly seat_id: string
      readonly row: string
      readonly number: string
      readonly place: number
      readonly x: number
      readonly y: number
      readonly category: string
      readonly kind?: string | undefined
      readonly price_minor: number
    })[] | { readonly file: BodyInit; readonly type: 'text/csv' }
    readonly answer: {
      readonly added: number
      readonly changed: number
      readonly removed: number
      readonly unchanged: number
      readonly reprinted: readonly string[]
      readonly reprinted_count: number
      readonly errors?: readonly {
        readonly field: string
        readonly detail: string
      }[] | undefined
      readonly error_count?: number | undefined
      readonly seats?: readonly string[] | undefined
      readonly seat_count?: number | undefined
    }
  }
  /**
   * The geometry of a hall.
   * Role: `viewer`.
   */
  readonly getHallChart: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: Chart
  }
  /**
   * Set the point towards which the best seats are.
   * Role: `operator`.
   */
  readonly putChart: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly body: {
      readonly focal_point?: {
        readonly x: number
        readonly y: number
      } | undefined
      readonly refuse_single?: boolean | undefined
    }
    readonly answer: {
      readonly focal_point: {
        readonly x: number
        readonly y: number
      }
      readonly refuse_single: boolean
    }
  }
  /**
   * Set the price or the category of seats that no order has.
   * Role: `operator`.
   */
  readonly priceSeats: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly body: {
      readonly section_id?: string | undefined
      readonly seats: readonly string[]
      readonly price_minor?: number | undefined
      readonly category?: string | undefined
    }
    readonly answer: {
      readonly changed: number
      readonly unchanged: number
    }
  }
  /**
   * Take seats out of sale.
   * Role: `operator`.
   */
  readonly blockSeats: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly body: {
      readonly section_id?: string | undefined
      readonly seats: readonly string[]
      readonly reason: string
      readonly until?: string | null | undefined
    }
    readonly answer: {
      readonly blocked: number
      readonly unchanged: number
    }
  }
  /**
   * Put seats back on sale.
   * Role: `operator`.
   */
  readonly releaseSeats: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly body: {
      readonly section_id?: string | undefined
      readonly seats: readonly string[]
      readonly reason?: string | undefined
    }
    readonly answer: {
      readonly released: number
      readonly unchanged: number
    }
  }
  /**
   * A hall: its sections with their counts, and what has each seat.
   * `seats` has two bits a seat, in the order of the chart: 0 available, 1 held, 2 sold, 3 blocked.
   * Role: `viewer`.
   */
  readonly getHall: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: {
      readonly version: number
      readonly sections: readonly Section[]
      readonly seats: string
      readonly blocks: readonly ({
        readonly section_id: string
        readonly seat_id: string
        readonly reason: string
        readonly operator: string | null
        readonly since: string
        readonly until: string | null
      })[]
    }
  }
  /**
   * The holder of a seat, and its history.
   * Role: `viewer`.
   */
  readonly getSeat: {
    readonly path: {
      /** The sale. */
      readonly sale: string
      /** The section. */
      readonly section: string
      /** The seat. */
      readonly seat: string
    }
    readonly answer: {
      readonly section_id: string
      readonly seat_id: string
      readonly state: 'available' | 'held' | 'sold' | 'blocked'
      readonly order?: string | undefined
      readonly status?: string | undefined
      readonly reason?: string | undefined
      readonly operator?: string | undefined
      readonly since?: string | undefined
      readonly until?: string | undefined
      readonly history: readonly ({
        readonly at: string
        readonly what: 'reserved' | 'paid' | 'returned' | 'blocked' | 'released' | 'priced' | 'moved'
        readonly by?: string | undefined
        readonly order?: string | undefined
        readonly price_minor?: number | undefined
        readonly reason?: string | undefined
      })[]
    }
  }
  /**
   * The operators.
   * Role: `owner`.
   */
  readonly listOperators: {
    readonly answer: {
      readonly operators: readonly ({
        readonly name: string
        readonly role: 'viewer' | 'operator' | 'owner'
        readonly created_at: string
        readonly revoked_at: string | null
      })[]
    }
  }
  /**
   * Add an operator, or give one a new key.
   * Role: `owner`.
   */
  readonly addOperator: {
    readonly body: {
      readonly name: string
      readonly role: 'viewer' | 'operator' | 'owner'
    }
    readonly answer: {
      readonly name: string
      readonly role: 'viewer' | 'operator' | 'owner'
      readonly key: string
    }
  }
  /**
   * Revoke an operator’s key, and end all sessions.
   * Role: `owner`.
   */
  readonly revokeOperator: {
    readonly path: {
      /** The operator. */
      readonly name: string
    }
    readonly answer: undefined
  }
  /**
   * The acts of operators, and their readings of buyers’ data.
   * Role: `viewer`.
   */
  readonly getAudit: {
    readonly query?: {
      /** The sale that the entries must belong to. */
      readonly sale?: string | undefined
      /** The operator who acted. */
      readonly operator?: string | undefined
      /** The action that was done. */
      readonly action?: string | undefined
      /** The form of the answer. */
      readonly format?: 'json' | 'csv' | 'ndjson' | undefined
      /** The `next` of the page before. */
      readonly after?: string | undefined
      /** The largest number of entries in the answer. */
      readonly limit?: string | undefined
    }
    readonly answer: {
      readonly entries: readonly ({
        readonly entry: string
        readonly at: string
        readonly operator: string
        readonly action: string
        readonly sale: string | null
        readonly sale_name: string | null
        readonly product_id: string | null
        readonly product_name: string | null
        readonly order_id: string | null
        readonly currency: string | null
        readonly is_parcel: boolean | null
        readonly before: unknown
        readonly after: unknown
      })[]
      readonly next: string | null
    } | string
  }
  /**
   * What is not as it should be: without a sale, and of all sales.
   * Role: `viewer`.
   */
  readonly listFindings: {
    readonly answer: {
      readonly findings: readonly ({
        readonly product_id: string
        readonly kind: string
        readonly subject: string
        readonly units: number
        readonly detail: unknown
        readonly seen: number
        readonly first_seen_at: string
        readonly last_seen_at: string
        readonly closed_at: string | null
        readonly outcome: string | null
      })[]
      readonly changes: readonly ({
        readonly at: string
        readonly actor: string
        readonly action: string
        readonly product_id: string | null
        readonly order_id: string | null
        readonly before: unknown
        readonly after: unknown
      })[]
      readonly all: readonly ({
        readonly finding: string
        readonly sale: string | null
        readonly sale_name: string | null
        readonly kind: string
        readonly product_id: string | null
        readonly units: number
        readonly seen: number
        readonly reason: string | null
        readonly level: 'watch' | 'bad'
        readonly advice: string
        readonly place: {
          readonly text: string
          readonly href: string
        }
        readonly first_seen_at: string
        readonly closed_at: string | null
        readonly outcome: string | null
      })[]
    }
  }
  /**
   * Whom findings reach.
   * Role: `viewer`.
   */
  readonly getAlerts: {
    readonly answer: {
      readonly channels: readonly ({
        readonly channel: 'mail' | 'slack' | 'pagerduty'
        readonly target: string | null
        readonly level: 'warn' | 'page' | 'off'
        readonly error: string | null
      })[]
    }
  }
  /**
   * Set from which severity a channel hears of findings.
   * Role: `owner`.
   */
  readonly putAlerts: {
    readonly body: {
      readonly mail?: 'warn' | 'page' | 'off' | undefined
      readonly slack?: 'warn' | 'page' | 'off' | undefined
      readonly pagerduty?: 'warn' | 'page' | 'off' | undefined
    }
    readonly answer: {
      readonly channels: readonly ({
        readonly channel: 'mail' | 'slack' | 'pagerduty'
        readonly target: string | null
        readonly level: 'warn' | 'page' | 'off'
        readonly error: string | null
      })[]
    }
  }
  /**
   * Send a test by each channel.
   * Role: `operator`.
   */
  readonly testAlerts: {
    readonly answer: {
      readonly sent: readonly ({
        readonly channel: 'mail' | 'slack' | 'pagerduty'
        readonly error: string | null
      })[]
    }
  }
  /**
   * What this installation has carried in rehearsals.
   * Role: `viewer`.
   */
  readonly listRehearsals: {
    readonly answer: {
      readonly rehearsals: readonly {
        readonly sale: string
        readonly at: string
        readonly visitors: number
        readonly arrived_per_second: number
        readonly sold: number
      }[]
    }
  }
  /**
   * Words with the same meaning, for the search.
   * Role: `viewer`.
   */
  readonly listSynonyms: {
    readonly answer: readonly (readonly string[])[]
  }
  /**
   * Replace the synonyms of the search.
   * Role: `operator`.
   */
  readonly putSynonyms: {
    readonly headers?: {
      /** The ETag that the change was made for. Without it the call overwrites what others did. */
      readonly 'if-match'?: string | undefined
    }
    readonly body: readonly (readonly string[])[]
    readonly answer: readonly (readonly string[])[]
  }
  /**
   * What was searched for and not found.
   * Role: `viewer`.
   */
  readonly listSearchMisses: {
    readonly query?: {
      /** Since this time; the last seven days if left out. */
      readonly from?: string | undefined
    }
    readonly answer: {
      readonly misses: readonly {
        readonly query: string
        readonly searches: number
        readonly callers: number
        readonly last_day: string
      }[]
    }
  }
  /**
   * The queues of jobs, with their throughput and history.
   * Role: `viewer`.
   */
  readonly listQueues: {
    readonly query?: {
      /** The length of the history. */
      readonly minutes?: string | undefined
    }
    readonly answer: {
      readonly queues: readonly ({
        readonly queue: string
        readonly waiting: number
        readonly later: number
        readonly active: number
        readonly retrying: number
        readonly oldest_seconds: number | null
        readonly dead: number
        readonly open: {
          readonly waiting: number
          readonly oldest_seconds: number | null
          readonly tries: number
        }
        readonly throughput: {
          readonly done_per_minute: number
          readonly failed_per_minute: number
        }
        readonly history: readonly {
          readonly minute: string
          readonly done: number
          readonly failed: number
          readonly dead: number
        }[]
        readonly level: 'good' | 'watch' | 'bad'
      })[]
    }
  }
  /**
   * What fails, by kind and reason.
   * Role: `viewer`.
   */
  readonly listFailing: {
    readonly path: {
      /** The queue. */
      readonly queue: string
    }
    readonly answer: {
      readonly failing: readonly ({
        readonly kind: string
        readonly reason: string
        readonly dead: number
        readonly retrying: number
        readonly first_at: string | null
        readonly last_at: string | null
      })[]
    }
  }
  /**
   * Try dead jobs of a kind, a reason and a time again.
   * Role: `operator`.
   */
  readonly retryFailed: {
    readonly path: {
      /** The queue. */
      readonly queue: string
    }
    readonly body?: {
      readonly kind?: string | undefined
      readonly reason?: string | undefined
      readonly from?: string | undefined
      readonly to?: string | undefined
    }
    readonly answer: {
      readonly queue: string
      readonly retried: number
      readonly more: boolean
    }
  }
  /**
   * Single dead jobs.
   * Role: `viewer`.
   */
  readonly listDead: {
    readonly path: {
      /** The queue. */
      readonly queue: string
    }
    readonly answer: {
      readonly jobs: readonly {
        readonly job: string
        readonly data: unknown
        readonly died_at: string
        readonly error: unknown
      }[]
    }
  }
  /**
   * Try a dead job again.
   * Role: `operator`.
   */
  readonly retryDead: {
    readonly path: {
      /** The queue. */
      readonly queue: string
      /** The job. */
      readonly job: string
    }
    readonly answer: {
      readonly queue: string
      readonly job: string
    }
  }
  /**
   * The endpoints, with what waits for each.
   * Role: `viewer`.
   */
  readonly listWebhooks: {
    readonly answer: {
      readonly webhooks: readonly Webhook[]
    }
  }
  /**
   * Add an endpoint, for what happens from then on.
   * Role: `owner`.
   */
  readonly addWebhook: {
    readonly body: {
      readonly url: string
      readonly events: readonly ('*' | 'order.reserved' | 'order.paying' | 'order.confirmed' | 'order.declined' | 'order.expired' | 'order.cancelled' | 'order.refunded' | 'order.fulfilled' | 'sale.opened' | 'sale.paused' | 'sale.sold_out' | 'sale.restocked' | 'sale.ended' | 'finding.opened')[]
      readonly secret?: string | undefined
      readonly state?: 'active' | 'paused' | undefined
      readonly note?: string | undefined
    }
    readonly answer: Webhook
  }
  /**
   * An endpoint.
   * Role: `viewer`.
   */
  readonly getWebhook: {
    readonly path: {
      /** The endpoint. */
      readonly endpoint: string
    }
    readonly answer: Webhook
  }
  /**
   * Change an endpoint, pause it, or rotate its secret.
   * After a rotation both secrets sign for a day.
   * Role: `owner`.
   */
  readonly changeWebhook: {
    readonly path: {
      /** The endpoint. */
      readonly endpoint: string
    }
    readonly body: {
      readonly url?: string | undefined
      readonly events?: readonly ('*' | 'order.reserved' | 'order.paying' | 'order.confirmed' | 'order.declined' | 'order.expired' | 'order.cancelled' | 'order.refunded' | 'order.fulfilled' | 'sale.opened' | 'sale.paused' | 'sale.sold_out' | 'sale.restocked' | 'sale.ended' | 'finding.opened')[] | undefined
      readonly secret?: string | undefined
      readonly state?: 'active' | 'paused' | undefined
      readonly note?: string | undefined
      readonly rotate?: boolean | undefined
    }
    readonly answer: Webhook
  }
  /**
   * Forget an endpoint and its deliveries.
   * Role: `owner`.
   */
  readonly removeWebhook: {
    readonly path: {
      /** The endpoint. */
      readonly endpoint: string
    }
    readonly answer: undefined
  }
  /**
   * The messages to an endpoint.
   * Role: `viewer`.
   */
  readonly listDeliveries: {
    readonly path: {
      /** The endpoint. */
      readonly endpoint: string
    }
    readonly query?: {
      /** In this state only. */
      readonly state?: 'pending' | 'delivered' | 'dead' | undefined
      /** Older than this delivery. */
      readonly after?: string | undefined
      /** The largest number of entries in the answer. */
      readonly limit?: string | undefined
    }
    readonly answer: {
      readonly deliveries: readonly ({
        readonly delivery: string
        readonly message_id: string
        readonly type: string
        readonly state: 'pending' | 'delivered' | 'dead'
        readonly attempts: number
        readonly status: number | null
        readonly error: string | null
        readonly tries: readonly ({
          readonly at: string
          readonly ms: number
          readonly status: number | null
          readonly error: string | null
        })[]
        readonly created_at: string
        readonly next_attempt_at: string | null
        readonly delivered_at: string | null
        readonly body: unknown
      })[]
      readonly next: string | null
    }
  }
  /**
   * The last quarter of an hour of an endpoint.
   * Role: `viewer`.
   */
  readonly getWebhookHistory: {
    readonly path: {
      /** The endpoint. */
      readonly endpoint: string
    }
    readonly answer: {
      readonly step_seconds: number
      readonly steps: readonly {
        readonly at: string
        readonly sent: number
        readonly failed: number
        readonly waiting: number
      }[]
    }
  }
  /**
   * Send messages again, with the same ids, in order.
   * Role: `owner`.
   */
  readonly replay: {
    readonly path: {
      /** The endpoint. */
      readonly endpoint: string
    }
    readonly body: {
      readonly delivery: string
    } | {
      readonly deliveries: readonly string[]
    } | {
      readonly from: string
      readonly to: string
    }
    readonly answer: {
      readonly replayed: number
    }
  }
  /**
   * Try what failed at once.
   * Role: `operator`.
   */
  readonly tryWebhook: {
    readonly path: {
      /** The endpoint. */
      readonly endpoint: string
    }
    readonly answer: {
      readonly tried: number
    }
  }
  /**
   * Send a message `webhook.test`.
   * Role: `owner`.
   */
  readonly testWebhook: {
    readonly path: {
      /** The endpoint. */
      readonly endpoint: string
    }
    readonly answer: undefined
  }
}

/** Method and path of each call. */
export const ROUTES = {
  listSales: ['GET', '/admin/sales'],
  getSale: ['GET', '/admin/sales/{sale}'],
  putSale: ['PUT', '/admin/sales/{sale}'],
  openSale: ['POST', '/admin/sales/{sale}/open'],
  pauseSale: ['POST', '/admin/sales/{sale}/pause'],
  resumeSale: ['POST', '/admin/sales/{sale}/resume'],
  endSale: ['POST', '/admin/sales/{sale}/end'],
  setRate: ['PATCH', '/admin/sales/{sale}/admission'],
  restock: ['POST', '/admin/sales/{sale}/products/{product}/restock'],
  reconcile: ['POST', '/admin/sales/{sale}/reconcile'],
  followSale: ['GET', '/admin/sales/{sale}/live'],
  getReport: ['GET', '/admin/sales/{sale}/report'],
  getFunnel: ['GET', '/admin/sales/{sale}/funnel'],
  getSeconds: ['GET', '/admin/sales/{sale}/seconds'],
  listSaleFindings: ['GET', '/admin/sales/{sale}/findings'],
  getPreview: ['GET', '/admin/sales/{sale}/preview'],
  previewDraft: ['POST', '/admin/sales/{sale}/preview'],
  listPosts: ['GET', '/admin/sales/{sale}/feed'],
  publishPost: ['POST', '/admin/sales/{sale}/feed'],
  editPost: ['PATCH', '/admin/sales/{sale}/feed/{n}'],
  removePost: ['DELETE', '/admin/sales/{sale}/feed/{n}'],
  announce: ['PUT', '/admin/sales/{sale}/announcement'],
  endAnnouncement: ['DELETE', '/admin/sales/{sale}/announcement'],
  listAnnouncements: ['GET', '/admin/sales/{sale}/announcements'],
  listScheduledActions: ['GET', '/admin/sales/{sale}/scheduled'],
  schedule: ['POST', '/admin/sales/{sale}/scheduled'],
  cancelAction: ['DELETE', '/admin/sales/{sale}/scheduled/{action}'],
  runAction: ['POST', '/admin/sales/{sale}/scheduled/{action}/run'],
  resumeAction: ['POST', '/admin/sales/{sale}/scheduled/{action}/resume'],
  getDocument: ['GET', '/admin/sales/{sale}/scheduled/{action}/runs/{due}'],
  countInvitations: ['GET', '/admin/sales/{sale}/invitations'],
  importInvitations: ['PUT', '/admin/sales/{sale}/invitations'],
  signInvitations: ['POST', '/admin/sales/{sale}/invitations/links'],
  listRules: ['GET', '/admin/sales/{sale}/rules'],
  addRule: ['POST', '/admin/sales/{sale}/rules'],
  changeRule: ['PATCH', '/admin/sales/{sale}/rules/{rule}'],
  removeRule: ['DELETE', '/admin/sales/{sale}/rules/{rule}'],
  listBlocks: ['GET', '/admin/blocks'],
  block: ['POST', '/admin/blocks'],
  unblock: ['DELETE', '/admin/blocks/{block}'],
  listPromoCodes: ['GET', '/admin/sales/{sale}/promo-codes'],
  putPromoCodes: ['PUT', '/admin/sales/{sale}/promo-codes'],
  checkPromoCodes: ['POST', '/admin/sales/{sale}/promo-codes/check'],
  addPicture: ['POST', '/admin/images'],
  listViewRules: ['GET', '/admin/view-rules'],
  putViewRules: ['PUT', '/admin/view-rules'],
  tryViewRules: ['POST', '/admin/view-rules/try'],
  getViews: ['GET', '/admin/sales/{sale}/views'],
  recountViews: ['POST', '/admin/sales/{sale}/views/recount'],
  exportViews: ['GET', '/admin/sales/{sale}/views/export'],
  listOrders: ['GET', '/admin/orders'],
  countOrders: ['GET', '/admin/orders/counts'],
  exportFoundOrders: ['GET', '/admin/orders/export'],
  getOrderHistory: ['GET', '/admin/orders/{order}'],
  addNote: ['POST', '/admin/orders/{order}/notes'],
  fulfil: ['POST', '/admin/orders/{order}/fulfil'],
  fulfilInSale: ['POST', '/admin/sales/{sale}/orders/{order}/fulfil'],
  refund: ['POST', '/admin/orders/{order}/refund'],
  returnUnits: ['POST', '/admin/orders/{order}/return'],
  cancelByShop: ['POST', '/admin/orders/{order}/cancel'],
  moveSeat: ['POST', '/admin/orders/{order}/move'],
  exportOrders: ['GET', '/admin/sales/{sale}/orders'],
  sellAtBoxOffice: ['POST', '/admin/sales/{sale}/box-office'],
  exportVisitor: ['GET', '/admin/visitors/{visitor}'],
  forgetVisitor: ['DELETE', '/admin/visitors/{visitor}'],
  putSection: ['PUT', '/admin/sales/{sale}/sections/{section}'],
  removeSection: ['DELETE', '/admin/sales/{sale}/sections/{section}'],
  importSeats: ['PUT', '/admin/sales/{sale}/sections/{section}/seats'],
  getHallChart: ['GET', '/admin/sales/{sale}/chart'],
  putChart: ['PUT', '/admin/sales/{sale}/chart'],
  priceSeats: ['PATCH', '/admin/sales/{sale}/seats'],
  blockSeats: ['POST', '/admin/sales/{sale}/seats/block'],
  releaseSeats: ['POST', '/admin/sales/{sale}/seats/release'],
  getHall: ['GET', '/admin/sales/{sale}/hall'],
  getSeat: ['GET', '/admin/sales/{sale}/hall/seats/{section}/{seat}'],
  listOperators: ['GET', '/admin/operators'],
  addOperator: ['POST', '/admin/operators'],
  revokeOperator: ['DELETE', '/admin/operators/{name}'],
  getAudit: ['GET', '/admin/audit'],
  listFindings: ['GET', '/admin/findings'],
  getAlerts: ['GET', '/admin/alerts'],
  putAlerts: ['PUT', '/admin/alerts'],
  testAlerts: ['POST', '/admin/alerts/test'],
  listRehearsals: ['GET', '/admin/rehearsals'],
  listSynonyms: ['GET', '/admin/search/synonyms'],
  putSynonyms: ['PUT', '/admin/search/synonyms'],
  listSearchMisses: ['GET', '/admin/search/misses'],
  listQueues: ['GET', '/admin/queues'],
  listFailing: ['GET', '/admin/queues/{queue}/failing'],
  retryFailed: ['POST', '/admin/queues/{queue}/retry'],
  listDead: ['GET', '/admin/queues/{queue}/dead'],
  retryDead: ['POST', '/admin/queues/{queue}/dead/{job}/retry'],
  listWebhooks: ['GET', '/admin/webhooks'],
  addWebhook: ['POST', '/admin/webhooks'],
  getWebhook: ['GET', '/admin/webhooks/{endpoint}'],
  changeWebhook: ['PATCH', '/admin/webhooks/{endpoint}'],
  removeWebhook: ['DELETE', '/admin/webhooks/{endpoint}'],
  listDeliveries: ['GET', '/admin/webhooks/{endpoint}/deliveries'],
  getWebhookHistory: ['GET', '/admin/webhooks/{endpoint}/history'],
  replay: ['POST', '/admin/webhooks/{endpoint}/replay'],
  tryWebhook: ['POST', '/admin/webhooks/{endpoint}/try'],
  testWebhook: ['POST', '/admin/webhooks/{endpoint}/test'],
} as const
