/** Verifies what the edge signs for other backends: admissions, and orders that are handed over, paid or not yet. */
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose'

const ISSUER = 'flash-sale-edge'
/** Public keys are of one kind; a token whose header says another is refused. */
const ALGORITHMS = ['EdDSA', 'Ed25519']

/**
 * The claims of an admission: who (`sub`) may check out in which `sale`, with which number (`num`), until `exp` (in
 * seconds). `jti` is the id of the admission, to use each once.
 *
 * @example
 * ```ts
 * import type { Admission } from '@flash-sale/client/tokens'
 *
 * const endsAt = ({ exp }: Admission) => new Date(exp * 1000)
 * console.log(endsAt)
 * ```
 */
export interface Admission {
  readonly sub: string
  readonly sale: string
  readonly num: number
  readonly jti: string
  readonly iat: number
  readonly exp: number
  /** The line; left out for the public one. */
  readonly line?: string
  /** Where the visitor came from. */
  readonly src?: string
}

/**
 * A paid order (`sub`) that is handed over to its shop.
 *
 * @example
 * ```ts
 * import type { HandedOver } from '@flash-sale/client/tokens'
 *
 * const sum = ({ total_minor, currency }: HandedOver) => `${total_minor / 100} ${currency}`
 * console.log(sum)
 * ```
 */
export interface HandedOver {
  readonly sub: string
  readonly sale: string
  readonly short_number: string | null
  readonly total_minor: number
  readonly currency: string
  readonly lines: readonly { readonly product_id: string; readonly quantity: number }[]
  readonly iat: number
  readonly exp: number
}

/**
 * A hold (`sub`) of a sale that is paid in the shop's own checkout: the shop may sell it until `reserved_until`.
 *
 * @example
 * ```ts
 * import type { Hold } from '@flash-sale/client/tokens'
 *
 * const secondsLeft = ({ reserved_until }: Hold) => (Date.parse(reserved_until) - Date.now()) / 1000
 * console.log(secondsLeft)
 * ```
 */
export interface Hold extends HandedOver {
  readonly status: 'reserved'
  readonly reserved_until: string
}

/**
 * Verifies tokens by the public keys of an edge, which are read once and again when an unknown key signs. Make one for
 * a process. Only for Ed25519 keys: with symmetric ones the edge publishes none.
 *
 * @example
 * ```ts
 * import { TokenVerifier } from '@flash-sale/client/tokens'
 *
 * const tokens = new TokenVerifier('https://queue.shop.example')
 *
 * export async function mayBuy(request: Request): Promise<boolean> {
 *   const token = request.headers.get('x-admission-token') ?? ''
 *   const admission = await tokens.admission(token, 'drop').catch(() => null)
 *   return admission !== null
 * }
 * ```
 */
export class TokenVerifier {
  readonly #keys: Readonly<Record<'admission' | 'handover', ReturnType<typeof createRemoteJWKSet>>>

  constructor(edge: string | URL) {
    this.#keys = {
      admission: createRemoteJWKSet(new URL('/.well-known/jwks.json', edge)),
      handover: createRemoteJWKSet(new URL('/.well-known/handover-keys.json', edge)),
    }
  }

  /**
   * The claims of an admission to a sale. Rejects with an error of jose if the signature, the times or the sale do not
   * hold.
   *
   * @example
   * ```ts
   * import { TokenVerifier } from '@flash-sale/client/tokens'
   *
   * const { sub, num } = await new TokenVerifier('https://queue.shop.example').admission('eyJ...', 'drop')
   * console.log(sub, num)
   * ```
   */
  async admission(token: string, sale: string): Promise<Admission> {
    return ofSale(sale, await this.#claims('admission', 'checkout', token)) as unknown as Admission
  }

  /**
   * The claims of a paid order of a sale, from the query of the address that its buyer came to.
   *
   * @example
   * ```ts
   * import { TokenVerifier } from '@flash-sale/client/tokens'
   *
   * const tokens = new TokenVerifier('https://queue.shop.example')
   * const order = await tokens.handover(new URL('https://shop.example/thanks?order=eyJ...').searchParams.get('order') ?? '', 'drop')
   * console.log(order.sub, order.lines)
   * ```
   */
  async handover(token: string, sale: string): Promise<HandedOver> {
    return ofSale(sale, await this.#claims('handover', 'handover', token)) as unknown as HandedOver
  }

  /**
   * The claims of a hold of a sale, from the query of the address that its buyer came to. Rejects once the hold has
   * ended.
   *
   * @example
   * ```ts
   * import { TokenVerifier } from '@flash-sale/client/tokens'
   *
   * const tokens = new TokenVerifier('https://queue.shop.example')
   * const hold = await tokens.hold(new URL('https://shop.example/checkout?order=eyJ...').searchParams.get('order') ?? '', 'drop')
   * console.log(hold.sub, hold.total_minor, hold.reserved_until)
   * ```
   */
  async hold(token: string, sale: string): Promise<Hold> {
    return ofSale(sale, await this.#claims('handover', 'hold', token)) as unknown as Hold
  }

  async #claims(keys: 'admission' | 'handover', audience: string, token: string): Promise<JWTPayload> {
    const expected = { issuer: ISSUER, audience, algorithms: ALGORITHMS, requiredClaims: ['exp', 'iat', 'sub', 'sale'] }
    return (await jwtVerify(token, this.#keys[keys], expected)).payload
  }
}

function ofSale(sale: string, claims: JWTPayload): JWTPayload {
  if (claims.sale !== sale) throw new Error(`The token is for the sale ${claims.sale}.`)
  return claims
}
