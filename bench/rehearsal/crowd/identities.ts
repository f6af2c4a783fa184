/**
 * Who the visitors of a rehearsal and its bots are: the network that they come from, and the account or the invitation
 * that the sale asks for. The demo shop signs the sessions of accounts.
 */
import { randomBytes } from 'node:crypto'
import type { DemoShop } from '../../../dev/servers/demo-shop.ts'

export const IDENTITIES = ['cookies', 'invitations', 'accounts'] as const
type Identities = (typeof IDENTITIES)[number]

/** What one caller shows of themselves with each call, as complete header lines, and with their join. */
export interface Identity {
  readonly headers: readonly string[]
  readonly invitation: string | null
}
/** How the line begins that has an account's session. */
export const SESSION = 'x-shop-authorization:'
export const UNKNOWN: Identity = { headers: [], invitation: null }

interface IssuerOptions {
  readonly kind: Identities
  readonly shop: DemoShop | undefined
  /** True where the edge counts calls by address. */
  readonly limits: boolean
  readonly visitors: number
  /** Accounts or invitations that each attack has, and networks that its bots come from. */
  readonly botIdentities: number
  readonly botNetworks: number
}

/** Gives identities out; those of visitors are kept, so that a session is signed once. */
export class Issuer {
  readonly #options: IssuerOptions
  /** Without it codes could be guessed from those of another rehearsal. */
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

  /** Bots of one attack share the few identities that it has, and come from another address each time. */
  ofBot(attack: string, bot: number, random: () => number): Identity {
    const { botIdentities, botNetworks } = this.#options
    return this.#of(`${attack}-${bot % botIdentities}`, botAddress(Math.floor(random() * botNetworks), random))
  }

  /** The codes to import, one line each. */
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

/** From a /24 of one's own, or from one of the few addresses that a carrier has. */
export function homeAddress(id: number): string {
  if (id % CARRIER_EVERY !== 0) return `${20 + ((id >> 16) & 63)}.${(id >> 8) & 255}.${id & 255}.${1 + (id % 250)}`
  const address = Math.floor(id / (CARRIER_EVERY * BEHIND_ONE_ADDRESS))
  const carrier = Math.floor(address / CARRIER_ADDRESSES)
  return `100.${(carrier >> 8) & 255}.${carrier & 255}.${1 + (address % CARRIER_ADDRESSES)}`
}

/** Every other network is a /24, and the ones between a /48 with its 65,536 networks of one subscriber each. */
export function botAddress(network: number, random: () => number): string {
  if (network % 2 === 0) return `198.${(network >> 8) & 255}.${network & 255}.${1 + Math.floor(random() * 254)}`
  return `2001:db8:${network.toString(16)}:${Math.floor(random() * 65_536).toString(16)}::1`
}
