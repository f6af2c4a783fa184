/**
 * Authenticates buyers' calls and checks whether they are allowed, by the edge's token, the admission to a sale or
 * the token of one order, the blocks, and the number of calls that a visitor has in progress. A call that is not
 * allowed is refused before any other work.
 */
import type { Context, MiddlewareHandler } from 'hono'
import {
  EDGE_ASN_HEADER,
  EDGE_NETWORKS_HEADER,
  EDGE_TOKEN_HEADER,
  EDGE_VISITOR_HEADER,
  EDGE_WAITED_HEADER,
  edgeTokens,
} from '../../shared/api/internal.ts'
import type { Order } from '../../shared/api/public.ts'
import type { SyncKey, TokenKeys } from '../../shared/keys.ts'
import { problem } from '../../shared/problem.ts'
import {
  ADMISSION,
  type AdmissionClaims,
  ORDER,
  ORDER_TOKEN_TTL_SECONDS,
  readToken,
  saleNamedIn,
  signToken,
  TokenReader,
  type Verified,
} from '../../shared/tokens.ts'
import type { Config } from '../base/config.ts'
import { bearer, comparesTo, headerOf, refuse } from '../lib/http/request.ts'
import type { Sales } from '../sales/sales.ts'
import type { Blocks } from './blocks.ts'
import { VisitorCalls } from './visitor-calls.ts'

/**
 * At most this many verified admissions of some 500 bytes are remembered, because buyers send one several times: to
 * retry, look and pay.
 */
const MAX_ADMISSIONS = 50_000
/** A longer time in the Worker counts as this long. */
const MAX_WAITED_MS = 60_000

interface BuyersDeps {
  readonly config: Pick<Config, 'EDGE_TOKEN' | 'EDGE_TOKEN_ALSO' | 'ALLOW_DIRECT' | 'CALLS_PER_VISITOR'>
  readonly keys: { readonly admission: TokenKeys; readonly order: TokenKeys<SyncKey> }
  readonly sales: Pick<Sales, 'nowMs'>
  readonly blocks: Pick<Blocks, 'refuse'>
}

/** The right to a visitor's orders of a sale (from an admission), or to one order (from its token). */
export type Right = { readonly sale: string } & (
  | { readonly visitor: string; readonly order?: undefined }
  | { readonly order: string; readonly visitor?: undefined }
)

export class Buyers {
  readonly #deps: BuyersDeps
  readonly #admissions: TokenReader<AdmissionClaims>
  readonly #calls: VisitorCalls
  /** True if the call has the edge's secret, which is compared in constant time. */
  readonly isEdge: (c: Context) => boolean

  constructor(deps: BuyersDeps) {
    this.#deps = deps
    this.#admissions = new TokenReader(ADMISSION, deps.keys.admission, MAX_ADMISSIONS)
    this.#calls = new VisitorCalls(deps.config.CALLS_PER_VISITOR)
    const isSecret = comparesTo(...edgeTokens(deps.config))
    this.isEdge = (c) => isSecret(headerOf(c, EDGE_TOKEN_HEADER))
  }

  /**
   * Admits only the edge, unless buyers may call directly. The edge also checks a buyer's session, which no token
   * contains.
   */
  readonly throughEdge: MiddlewareHandler = (c, next) =>
    this.#deps.config.ALLOW_DIRECT || this.isEdge(c) ? next() : refuse(problem('edge-only'))

  /** The time that the Worker spent on a call before it arrived, as the edge reports it; 0 for any other caller. */
  waitedMs(c: Context): number {
    const said = this.isEdge(c) ? Number(headerOf(c, EDGE_WAITED_HEADER)) || 0 : 0
    return Math.min(MAX_WAITED_MS, Math.max(0, said))
  }

  /** The admission of the call. It is a promise only if its key is asymmetric. */
  readAdmission(c: Context): Verified<AdmissionClaims> | Promise<Verified<AdmissionClaims>> {
    return this.#admissions.read(bearer(c) ?? '', this.#deps.sales.nowMs())
  }

  /**
   * Starts a call with a verified admission; `leave` ends it. Throws unless the admission is valid, for this sale and
   * not blocked.
   */
  enterAdmitted(saleId: string, read: Verified<AdmissionClaims>): AdmissionClaims {
    if (!read.ok) {
      const expired = read.reason === 'expired' && { detail: 'The admission has expired.' }
      return refuse(problem('not-admitted', { ...expired, queue: queueOf(saleId), retry_after_seconds: 5 }))
    }
    const { claims } = read
    if (claims.sale !== saleId) return refuse(problem('wrong-sale', { detail: `The admission is for ${claims.sale}.` }))
    this.#deps.blocks.refuse(claims.sub)
    this.enter(claims.sub)
    return claims
  }

  /**
   * The visitor whose orders of a sale are requested. The edge names the visitor, because its cookies outlive
   * admissions; without the edge the admission does.
   */
  async visitorOf(c: Context, saleId: string): Promise<{ readonly visitor: string; readonly isNamed: boolean }> {
    const named = this.isEdge(c) ? headerOf(c, EDGE_VISITOR_HEADER) : undefined
    if (named !== undefined) {
      const visitor = decodeURIComponent(named)
      this.refuseBlocked(visitor)
      this.enter(visitor)
      return { visitor, isNamed: true }
    }
    return { visitor: this.enterAdmitted(saleId, await this.readAdmission(c)).sub, isNamed: false }
  }

  /** The right that a call's token gives. Throws if the token is neither an admission nor an order's. */
  async rightOf(c: Context): Promise<Right> {
    const admission = await this.readAdmission(c)
    if (admission.ok) return { sale: admission.claims.sale, visitor: admission.claims.sub }
    const token = bearer(c) ?? ''
    const order = readToken(ORDER, this.#deps.keys.order, token, this.#deps.sales.nowMs())
    if (order.ok) return { sale: order.claims.sale, order: order.claims.sub }
    const detail = 'Send the admission token or the order_token.'
    const sale = saleNamedIn(token)
    return refuse(problem('not-admitted', { detail, ...(sale && { queue: queueOf(sale) }), retry_after_seconds: 5 }))
  }

  /**
   * The networks of a buyer, each with the units that it may hold unpaid, in the form of EDGE_NETWORKS_HEADER. Only
   * the edge can name them.
   */
  networksOf(c: Context): string | undefined {
    const networks = headerOf(c, EDGE_NETWORKS_HEADER)
    return networks !== undefined && this.isEdge(c) ? networks : undefined
  }

  /** The number of the buyer's network, if the edge knows it. */
  asnOf(c: Context): number | undefined {
    const asn = headerOf(c, EDGE_ASN_HEADER)
    return asn !== undefined && /^\d{1,9}$/.test(asn) && this.isEdge(c) ? Number(asn) : undefined
  }

  refuseBlocked(visitor: string): void {
    this.#deps.blocks.refuse(visitor)
  }

  /**
   * Starts a call. Throws if the visitor has too many in progress, since these would displace other visitors' calls.
   */
  enter(visitor: string): void {
    if (this.#calls.enter(visitor)) return
    const detail = 'You have other calls in progress. Wait for them.'
    refuse(problem('too-many-requests', { detail, retry_after_seconds: 1 }))
  }

  leave(visitor: string): void {
    this.#calls.leave(visitor)
  }

  /** Returns a token that gives access to one order for a day. */
  orderToken({ order_id: sub, sale }: Pick<Order, 'order_id' | 'sale'>): string {
    const iat = Math.floor(this.#deps.sales.nowMs() / 1000)
    return signToken(ORDER, this.#deps.keys.order, { sub, sale, iat, exp: iat + ORDER_TOKEN_TTL_SECONDS })
  }
}

const queueOf = (sale: string) => `/sales/${encodeURIComponent(sale)}/queue`
