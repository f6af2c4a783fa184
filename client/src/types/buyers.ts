// `npm run openapi` writes this file from docs/openapi: do not edit it.

export interface Address {
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
}

export interface CheckoutLine {
  readonly product_id?: string | undefined
  readonly section_id?: string | undefined
  readonly seats?: readonly string[] | undefined
  readonly category?: string | undefined
  readonly quantity?: number | undefined
  readonly together?: boolean | undefined
  readonly accessible?: boolean | undefined
}

export interface CheckoutRequest {
  readonly lines?: readonly CheckoutLine[] | undefined
  readonly product_id?: string | undefined
  readonly quantity?: number | undefined
  readonly payment_method?: string | undefined
  readonly promo_code?: string | readonly string[] | undefined
  readonly delivery?: Address | undefined
  readonly accept?: readonly 'terms'[] | undefined
  readonly total_minor?: number | undefined
  readonly contact?: {
    readonly email: string
  } | undefined
}

export interface JoinRequest {
  readonly line?: string | undefined
  readonly invitation?: string | undefined
  readonly altcha?: string | undefined
  readonly turnstile?: string | undefined
  readonly source?: {
    readonly utm_source?: string | undefined
    readonly utm_medium?: string | undefined
    readonly utm_campaign?: string | undefined
    readonly referrer?: string | undefined
  } | undefined
}

export interface ViewBeacon {
  readonly view: string
  readonly page: 'front' | 'sale' | 'line' | 'turn' | 'order' | 'final'
  readonly seen_seconds: number
  readonly source?: {
    readonly utm_source?: string | undefined
    readonly utm_medium?: string | undefined
    readonly utm_campaign?: string | undefined
    readonly referrer?: string | undefined
  } | undefined
  readonly language?: string | undefined
}

export interface QueueAnswer {
  readonly status: 'pre_queue' | 'waiting' | 'ready' | 'paused' | 'all_in_carts' | 'missed_turn' | 'sold_out' | 'ended'
  readonly line: string
  readonly queue_token?: string | undefined
  readonly number: number
  readonly position_in_queue: number | null
  readonly now_serving: number
  readonly estimated_wait_time: number | null
  readonly poll_after_ms: number
  readonly admission_token?: string | undefined
  readonly admission_expires_at?: string | undefined
}

export interface PublicSale {
  readonly sale: string
  readonly name: string
  readonly phase: 'upcoming' | 'pre_queue' | 'open' | 'paused' | 'all_in_carts' | 'sold_out' | 'ended'
  readonly pre_queue_opens_at: string | null
  readonly opens_at: string
  readonly ends_at: string | null
  readonly hold_seconds: number
  readonly limit_per_visitor: number
  readonly contact: 'off' | 'optional' | 'required'
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
  readonly indexed: boolean
  readonly mails: readonly string[]
  readonly push: {
    readonly key: string
    readonly kinds: readonly string[]
  } | null
  readonly payment: 'provider' | 'handover'
  readonly test: boolean
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
  readonly goods_version: number | null
  readonly chart_version: number | null
  readonly server_time_ms: number
  readonly brand: {
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
  } | null
  readonly venue: string | null
  readonly names: Readonly<Record<string, string>> | null
  readonly event: {
    readonly starts_at: string
    readonly ends_at: string | null
    readonly time_zone: string
  } | null
  readonly products: readonly ({
    readonly product_id: string
    readonly name: string
    readonly unit_price_minor: number
    readonly currency: string
    readonly total: number
    readonly available: number
    readonly section_type?: 'reserved' | 'general_admission' | null | undefined
    readonly limit?: number | null | undefined
    readonly weight_grams?: number | null | undefined
    readonly has_terms?: boolean | undefined
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
      readonly available: number
      readonly sku?: string | undefined
    })[] | undefined
  })[]
}

export interface Schedule {
  readonly sale: string
  readonly line?: string | undefined
  readonly version: number
  readonly phase: 'upcoming' | 'pre_queue' | 'open' | 'paused' | 'all_in_carts' | 'sold_out' | 'ended'
  readonly anchor_at_ms: number
  readonly anchor_position: number
  readonly rate_per_second: number
  readonly ceiling: number
  readonly missed_through: number
  readonly pre_queue_size: number
  readonly draw_commitment: string
  readonly draw_seed: string | null
  readonly draw_beacon: string | null
  readonly beacon_announced: boolean
  readonly pre_queue_opens_at: string
  readonly opens_at: string
  readonly ends_at: string | null
  readonly pre_queue_opens_at_ms: number
  readonly ends_at_ms: number | null
  readonly products: readonly {
    readonly product_id: string
    readonly available: number
  }[]
  readonly lasts_for_positions: number | null
  readonly announcement: {
    readonly id: string
    readonly level: 'info' | 'warning'
    readonly text: Readonly<Record<string, string>>
    readonly since: string
    readonly until?: string | null | undefined
  } | null
  readonly pause_reason: Readonly<Record<string, string>> | null
  readonly feed_version: number
  readonly next_read_ms: number
  readonly server_time_ms: number
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
  readonly lines: readonly OrderLine[]
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
  readonly payment: Payment | null
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

export interface OrderLine {
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
}

export interface Payment {
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
}

export interface Totals {
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
  readonly currency: string | null
  readonly promo_codes: readonly ({
    readonly code: string
    readonly holds: boolean
    readonly reason?: string | undefined
  })[]
  readonly needs_country?: boolean | undefined
}

export interface Sections {
  readonly sale: string
  readonly version: number | null
  readonly as_of: string
  readonly sections: readonly ({
    readonly section_id: string
    readonly name: string
    readonly type: 'reserved' | 'general_admission'
    readonly total_seats: number
    readonly available_seats: number
    readonly price_minor: number
    readonly currency: string
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

export interface Seats {
  readonly section_id: string
  readonly total_seats: number
  readonly page: number
  readonly page_size: number
  readonly seats: readonly ({
    readonly seat_id: string
    readonly row: string
    readonly number: string
    readonly category: string
    readonly kind: 'standard' | 'accessible' | 'companion' | 'restricted_view'
    readonly price_minor: number
    readonly status: 'available' | 'held' | 'sold' | 'blocked'
  })[]
}

export interface SeatOffer {
  readonly section_id: string
  readonly seats: readonly string[]
  readonly totals: Totals
}

export interface Posts {
  readonly posts: readonly ({
    readonly n: number
    readonly at: string
    readonly urgent: boolean
    readonly text: Readonly<Record<string, string>>
    readonly image?: {
      readonly url: string
      readonly alt?: string | undefined
      readonly width?: number | undefined
      readonly height?: number | undefined
      readonly widths?: readonly number[] | undefined
    } | undefined
    readonly edited_at?: string | undefined
  })[]
  readonly as_of?: string | undefined
}

export interface Feed {
  readonly posts: readonly ({
    readonly n: number
    readonly at: string
    readonly urgent: boolean
    readonly text: Readonly<Record<string, string>>
    readonly image?: {
      readonly url: string
      readonly alt?: string | undefined
      readonly width?: number | undefined
      readonly height?: number | undefined
      readonly widths?: readonly number[] | undefined
    } | undefined
    readonly edited_at?: string | undefined
  })[]
  readonly as_of?: string | undefined
  readonly changed?: readonly ({
    readonly n: number
    readonly text?: Readonly<Record<string, string>> | undefined
    readonly edited_at?: string | undefined
    readonly retracted?: true | undefined
  })[] | undefined
  readonly older?: number | undefined
  readonly next_poll_ms: number
}

export interface SearchResults {
  readonly query: string
  readonly corrected?: string | undefined
  readonly did_you_mean?: string | undefined
  readonly results: readonly ({
    readonly type: 'sale' | 'product' | 'venue'
    readonly sale: string
    readonly product_id?: string | undefined
    readonly title: string
    readonly snippet: string
    readonly score: number
    readonly phase?: 'upcoming' | 'pre_queue' | 'open' | 'paused' | 'all_in_carts' | 'sold_out' | 'ended' | undefined
    readonly opens_at?: string | undefined
    readonly price_from_minor?: number | null | undefined
    readonly currency?: string | null | undefined
    readonly prices_differ?: boolean | undefined
    readonly left?: number | null | undefined
  })[]
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
export interface BuyersCalls {
  /**
   * The public data of a sale.
   * The same for everybody, and kept by caches for a second or two.
   */
  readonly getSale: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: PublicSale
  }
  /**
   * The groups that are called, and when.
   * With it and a number everybody calculates their own position without asking again: docs/draw.md says how. The next read is due after `next_read_ms`.
   */
  readonly getSchedule: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly query?: {
      /** A line of the sale; the public one if it is left out. */
      readonly line?: string | undefined
    }
    readonly answer: Schedule
  }
  /**
   * Join the line, or the lobby before the opening.
   * Joining again with the token, or from the same browser, returns the same number. A browser (one that sends Sec-Fetch-Site) has its tokens in HttpOnly cookies only; every other client has them in the answer.
   */
  readonly join: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly body?: JoinRequest
    readonly answer: QueueAnswer
  }
  /**
   * Leave the line.
   * Whoever leaves the lobby keeps their lot; whoever leaves after the draw is out. Whoever is signed in at the shop needs no token of the place.
   */
  readonly leave: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: undefined
  }
  /**
   * The place in the fields of Cloudflare’s Waiting Room.
   * For clients that are written for it. Before another site a protected path answers the same to those who wait and ask with `Accept` exactly `application/json`.
   */
  readonly getCfWaitingRoom: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: {
      readonly cfWaitingRoom: {
        readonly inWaitingRoom: boolean
        readonly waitTimeKnown: boolean
        readonly waitTime: number
        readonly waitTime25Percentile: number
        readonly waitTime50Percentile: number
        readonly waitTime75Percentile: number
        readonly waitTimeFormatted: string
        readonly queueIsFull: boolean
        readonly queueAll: boolean
        readonly lastUpdated: string
        readonly refreshIntervalSeconds: number
        readonly queueingMethod: 'fifo' | 'random' | 'reject'
        readonly isFIFOQueue: boolean
        readonly isRandomQueue: boolean
        readonly isPassthroughQueue: boolean
        readonly isRejectQueue: boolean
        readonly isEventActive: boolean
        readonly isEventPrequeueing: boolean
        readonly timeUntilEventStart: number
        readonly timeUntilEventStartFormatted: string
        readonly timeUntilEventEnd: number
        readonly timeUntilEventEndFormatted: string
        readonly shuffleAtEventStart: boolean
        readonly turnstile: string
        readonly infiniteQueue: boolean
      }
    }
  }
  /**
   * Where am I in the line?
   * Ask again after `poll_after_ms`. The answer is `ready` from one’s turn on, with an admission token. Whoever is signed in at the shop needs no token of the place: the answer brings it.
   */
  readonly getStatus: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: QueueAnswer
  }
  /**
   * A proof of work to solve before joining.
   * A challenge of ALTCHA (altcha.org), whose solution is `altcha` of the join.
   */
  readonly getChallenge: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly query?: {
      /** A line of the sale; the public one if it is left out. */
      readonly line?: string | undefined
    }
    readonly answer: {
      readonly parameters: {
        readonly algorithm: 'SCRYPT'
        readonly nonce: string
        readonly salt: string
        readonly cost: number
        readonly memoryCost: number
        readonly parallelism: number
        readonly keyLength: number
        readonly keyPrefix: string
        readonly keySignature?: string | undefined
        readonly expiresAt: number
        readonly data: {
          readonly sale: string
          readonly visitor: string
          readonly difficulty: number
        }
      }
      readonly signature: string
    }
  }
  /** A push message about one’s turn, or about a restock. */
  readonly requestPush: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly body: {
      readonly endpoint: string
      readonly keys: {
        readonly p256dh: string
        readonly auth: string
      }
    }
    readonly answer: undefined
  }
  /** No more push messages. */
  readonly endPush: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly body: {
      readonly endpoint: string
    }
    readonly answer: undefined
  }
  /** The newest posts of the shop. */
  readonly getFeed: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly query?: {
      /** The answer has the posts after this number. `older` names the page on which they go on. */
      readonly since?: string | undefined
    }
    readonly answer: Feed
  }
  /**
   * A page of older posts.
   * Page 1 has the oldest posts. A full page never changes, unless a post is taken away.
   */
  readonly getFeedPage: {
    readonly path: {
      /** The sale. */
      readonly sale: string
      /** The number of the page, from 1. */
      readonly page: string
    }
    readonly answer: Posts
  }
  /**
   * A view of one of the sale’s pages.
   * A page sends it when it is first seen, and every 15 seconds while it is. Nothing is kept of a browser that sends Global Privacy Control or Do Not Track.
   */
  readonly countView: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly body: ViewBeacon | { readonly file: BodyInit; readonly type: 'text/plain' }
    readonly answer: undefined
  }
  /**
   * A view of the shop front.
   * A page sends it when it is first seen, and every 15 seconds while it is. Nothing is kept of a browser that sends Global Privacy Control or Do Not Track.
   */
  readonly countFrontView: {
    readonly body: ViewBeacon | { readonly file: BodyInit; readonly type: 'text/plain' }
    readonly answer: undefined
  }
  /** The public keys of admission tokens. */
  readonly getAdmissionKeys: {
    readonly answer: {
      readonly keys: readonly {
        readonly kty: string
        readonly kid: string
      }[]
    }
  }
  /** The public keys of orders that are handed over to the shop. */
  readonly getHandoverKeys: {
    readonly answer: {
      readonly keys: readonly {
        readonly kty: string
        readonly kid: string
      }[]
    }
  }
  /** Tells if this half runs. */
  readonly getHealth: {
    readonly answer: {
      readonly status: 'ok'
      readonly kid: string
    }
  }
  /**
   * Reserve, and pay if a payment method is sent.
   * All lines or none. The same key with the same body returns the first answer again, with the header Idempotency-Replayed.
   */
  readonly checkOut: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly headers: {
      /** A new one for each order that is wanted, the same for each repetition. */
      readonly 'idempotency-key': string
    }
    readonly body: CheckoutRequest
    readonly answer: Order
  }
  /** What a cart would cost now. */
  readonly getTotals: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly body: CheckoutRequest
    readonly answer: Totals
  }
  /** One’s own orders of a sale. */
  readonly listOrders: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: {
      readonly orders: readonly Order[]
    }
  }
  /** One’s own orders of all sales. */
  readonly listAllOrders: {
    readonly answer: {
      readonly orders: readonly Order[]
    }
  }
  /**
   * An order.
   * The order token of the checkout reads it for 24 hours.
   */
  readonly getOrder: {
    readonly path: {
      /** The order. */
      readonly order: string
    }
    readonly answer: Order
  }
  /** Give an order back while it is reserved. */
  readonly giveBack: {
    readonly path: {
      /** The order. */
      readonly order: string
    }
    readonly answer: Order
  }
  /**
   * Pay an order.
   * The answer is `paying`; the order’s events or reads tell what became of it.
   */
  readonly pay: {
    readonly path: {
      /** The order. */
      readonly order: string
    }
    readonly body: {
      readonly payment_method: string
    }
    readonly answer: Order
  }
  /**
   * The changes of an order.
   * Server-sent events: `order` with the order as it was then. `Last-Event-ID` resumes.
   */
  readonly followOrder: {
    readonly path: {
      /** The order. */
      readonly order: string
    }
    readonly answer: string
  }
  /** The sections of a hall. */
  readonly listSections: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: Sections
  }
  /** The geometry of a hall, which never changes. */
  readonly getChart: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly query?: {
      /** The version; another one redirects to the current. */
      readonly v?: string | undefined
    }
    readonly answer: Chart
  }
  /** The states of a section’s seats, for anyone. */
  readonly getAvailability: {
    readonly path: {
      /** The sale. */
      readonly sale: string
      /** A section of its hall. */
      readonly section: string
    }
    readonly answer: {
      readonly section_id: string
      readonly version: number
      readonly seats: string
      readonly as_of?: string | undefined
    }
  }
  /** The seats of a section, by page. */
  readonly listSeats: {
    readonly path: {
      /** The sale. */
      readonly sale: string
      /** A section of its hall. */
      readonly section: string
    }
    readonly query?: {
      /** The number of the page. The first is 1. */
      readonly page?: string | undefined
      /** The seats of a page, 200 if left out. */
      readonly page_size?: string | undefined
    }
    readonly answer: Seats
  }
  /**
   * The free places of all sections as they change.
   * Server-sent events, a snapshot first: `{ section_id, available_seats, timestamp }`. `Last-Event-ID` resumes.
   */
  readonly followSections: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly answer: string
  }
  /** The seats that best available would take now. */
  readonly offerSeats: {
    readonly path: {
      /** The sale. */
      readonly sale: string
    }
    readonly body: {
      readonly section_id?: string | undefined
      readonly category?: string | undefined
      readonly kind?: 'standard' | 'accessible' | 'companion' | 'restricted_view' | undefined
      readonly quantity: number
      readonly not?: readonly string[] | undefined
    }
    readonly answer: SeatOffer
  }
  /** The sales that are on, to come, and over. */
  readonly listSales: {
    readonly answer: {
      readonly sales: readonly ({
        readonly sale: string
        readonly name: string
        readonly image?: unknown | undefined
        readonly phase: 'upcoming' | 'pre_queue' | 'open' | 'paused' | 'all_in_carts' | 'sold_out' | 'ended'
        readonly opens_at: string
        readonly price_from_minor: number | null
        readonly currency: string | null
        readonly prices_differ: boolean
        readonly left: number | null
      })[]
    }
  }
  /** Search sales, products and venues. */
  readonly search: {
    readonly query?: {
      /** What is searched for. */
      readonly q?: string | undefined
      /** At most so many results, up to 100. */
      readonly limit?: string | undefined
    }
    readonly answer: SearchResults
  }
  /** Complete queries that begin like this one. */
  readonly completeSearch: {
    readonly query?: {
      /** What is searched for. */
      readonly q?: string | undefined
    }
    readonly answer: {
      readonly query: string
      readonly completions: readonly string[]
    }
  }
  /** What a browser searches by itself. */
  readonly getSearchIndex: {
    readonly query?: {
      /** The version; another one redirects to the current. */
      readonly v?: string | undefined
    }
    readonly answer: {
      readonly entries: readonly unknown[]
      readonly synonyms: readonly (readonly string[])[]
    }
  }
  /**
   * Sign out.
   * Ends the session that began at `/me/sign-in`. Places are kept for when the account signs in again.
   */
  readonly signOut: {
    readonly answer: {
      readonly sign_out_url: string | null
    }
  }
  /** The latest ten searches of a signed-in visitor. */
  readonly listSearches: {
    readonly answer: {
      readonly searches: readonly string[]
    }
  }
  /** Keep a search. */
  readonly keepSearch: {
    readonly body: {
      readonly q: string
    }
    readonly answer: {
      readonly searches: readonly string[]
    }
  }
  /** Forget a search, or all. */
  readonly forgetSearches: {
    readonly query?: {
      /** The search that is forgotten; all if it is left out. */
      readonly q?: string | undefined
    }
    readonly answer: {
      readonly searches: readonly string[]
    }
  }
}

/** Method and path of each call. */
export const ROUTES = {
  getSale: ['GET', '/sales/{sale}'],
  getSchedule: ['GET', '/sales/{sale}/schedule'],
  join: ['POST', '/sales/{sale}/queue'],
  leave: ['DELETE', '/sales/{sale}/queue'],
  getCfWaitingRoom: ['GET', '/sales/{sale}/cf-waiting-room'],
  getStatus: ['GET', '/sales/{sale}/queue/status'],
  getChallenge: ['GET', '/sales/{sale}/challenge'],
  requestPush: ['POST', '/sales/{sale}/push'],
  endPush: ['DELETE', '/sales/{sale}/push'],
  getFeed: ['GET', '/sales/{sale}/feed'],
  getFeedPage: ['GET', '/sales/{sale}/feed/{page}'],
  countView: ['POST', '/sales/{sale}/views'],
  countFrontView: ['POST', '/views'],
  getAdmissionKeys: ['GET', '/.well-known/jwks.json'],
  getHandoverKeys: ['GET', '/.well-known/handover-keys.json'],
  getHealth: ['GET', '/healthz'],
  checkOut: ['POST', '/sales/{sale}/checkout'],
  getTotals: ['POST', '/sales/{sale}/totals'],
  listOrders: ['GET', '/sales/{sale}/orders'],
  listAllOrders: ['GET', '/me/orders'],
  getOrder: ['GET', '/orders/{order}'],
  giveBack: ['DELETE', '/orders/{order}'],
  pay: ['POST', '/orders/{order}/payment'],
  followOrder: ['GET', '/orders/{order}/events'],
  listSections: ['GET', '/sales/{sale}/sections'],
  getChart: ['GET', '/sales/{sale}/chart'],
  getAvailability: ['GET', '/sales/{sale}/sections/{section}/availability'],
  listSeats: ['GET', '/sales/{sale}/sections/{section}/seats'],
  followSections: ['GET', '/sales/{sale}/sections/updates'],
  offerSeats: ['POST', '/sales/{sale}/seats/offer'],
  listSales: ['GET', '/'],
  search: ['GET', '/search'],
  completeSearch: ['GET', '/search/suggest'],
  getSearchIndex: ['GET', '/search/index'],
  signOut: ['POST', '/me/sign-out'],
  listSearches: ['GET', '/me/searches'],
  keepSearch: ['POST', '/me/searches'],
  forgetSearches: ['DELETE', '/me/searches'],
} as const
