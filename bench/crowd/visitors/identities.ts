/**
 * The identities of a rehearsal's visitors and bots: the network that they come from, and the account or the
 * invitation that the sale requires. The demo shop signs the sessions of accounts.
 */
import { randomBytes } from 'node:crypto'
import type { DemoShop } from '../../../dev/servers/demo-shop.ts'

export const IDENTITIES = ['cookies', 'invitations', 'accounts'] as const
type Identities = (typeof IDENTITIES)[number]

/** The identity that a caller sends with each call, as complete header lines, and with their join. */
export interface Identity {
  readonly headers: readonly string[]
  readonly invitation: string | null
}
/** The beginning of the header line that contains an account's session. */
export const SESSION = 'x-shop-authorization:'
export const UNKNOWN: Identity = { headers: [], invitation: null }

interface IssuerOptions {
  readonly kind: Identities
  readonly shop: DemoShop | undefined
  /** True if the edge limits calls by address. */
  readonly limits: boolean
  readonly visitors: number
  /** The number of accounts or invitations of each attack, and of networks that its bots come from. */
  readonly botIdentities: number
  readonly botNetworks: number
}

/** Issues identities. Those of visitors are stored, so that a session is signed once. */
export class Issuer {
  readonly #options: IssuerOptions
  /** The salt makes codes differ from those of another rehearsal, from which they could be guessed. */
  readonly #salt = randomBytes(6).toString('hex')
  readonly #known: (Identity | undefined)[]

  constructor(options: IssuerOptions) {
    this.#options = options
    this.#known = new Array(options.kind === 'accounts' ? options.visitors : 0)
  }

  ofVisitor(id: number): Identity {
    const known = this.#known[id]
    if (known) return known
    const identity = this.#of(`visitor-${id}`, homeAddress(id))
    if (this.#options.kind === 'accounts') this.#known[id] = identity
    return identity
  }

  /** The bots of one attack share its few identities, and use another address each time. */
  ofBot(attack: string, bot: number, random: () => number): Identity {
    const { botIdentities, botNetworks } = this.#options
    return this.#of(`${attack}-${bot % botIdentities}`, botAddress(Math.floor(random() * botNetworks), random))
  }

  /** The codes to import, one on each line. */
  *invitations(attacks: readonly string[]): Generator<string> {
    const { visitors, botIdentities } = this.#options
    for (let id = 0; id < visitors; id++) yield this.#code(`visitor-${id}`)
    for (const attack of attacks) for (let i = 0; i < botIdentities; i++) yield this.#code(`${attack}-${i}`)
  }

  #of(name: string, address: string): Identity {
    const { kind, shop, limits } = this.#options
    const headers = limits ? [`cf-connecting-ip: ${address}`] : []
    if (shop) headers.push(`${SESSION} Bearer ${shop.session(name)}`)
    return { headers, invitation: kind === 'invitations' ? this.#code(name) : null }
  }

  #code(name: string): string {
    return `${this.#salt}-${name}`
  }
}

/** One visitor in ten comes through a carrier or an office. */
const CARRIER_EVERY = 10
const BEHIND_ONE_ADDRESS = 20
const CARRIER_ADDRESSES = 4

/** An address in a separate /24, or one of the few addresses of a carrier. */
export function homeAddress(id: number): string {
  if (id % CARRIER_EVERY !== 0) return `${20 + ((id >> 16) & 63)}.${(id >> 8) & 255}.${id & 255}.${1 + (id % 250)}`
  const address = Math.floor(id / (CARRIER_EVERY * BEHIND_ONE_ADDRESS))
  const carrier = Math.floor(address / CARRIER_ADDRESSES)
  return `100.${(carrier >> 8) & 255}.${carrier & 255}.${1 + (address % CARRIER_ADDRESSES)}`
}

/** Networks alternate between a /24 and a /48, which contains 65,536 networks of one subscriber each. */
export function botAddress(network: number, random: () => number): string {
  if (network % 2 === 0) return `198.${(network >> 8) & 255}.${network & 255}.${1 + Math.floor(random() * 254)}`
  return `2001:db8:${network.toString(16)}:${Math.floor(random() * 65_536).toString(16)}::1`
}
