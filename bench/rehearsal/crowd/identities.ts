/**
 * Who the visitors of a rehearsal and its bots are: the network that they come from, and the account or the invitation
 * that the sale asks for. The shop's accounts come from a stand-in of its issuer.
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LOOPBACK } from '../../../dev/processes.ts'

export const IDENTITIES = ['cookies', 'invitations', 'accounts'] as const
type Identities = (typeof IDENTITIES)[number]

/** What one caller shows of themselves with each call, as complete header lines, and with their join. */
export interface Identity {
  readonly headers: readonly string[]
  readonly invitation: string | null
}
export const UNKNOWN: Identity = { headers: [], invitation: null }

const ISSUER = 'https://shop.example'
const AUDIENCE = 'rehearsal'
const KID = 'rehearsal'
const SESSION_SECONDS = 24 * 3600

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The shop whose sessions visitors have: signs them, and serves the keys that verify them. */
export class Shop {
  readonly #key: KeyObject
  readonly #server: Server
  readonly #head = base64url({ alg: 'ES256', kid: KID })
  #url = ''

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwks = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: KID, alg: 'ES256' }] })
    this.#key = privateKey
    this.#server = createServer((_, response) => response.setHeader('content-type', 'application/json').end(jwks))
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, LOOPBACK, resolve))
    this.#url = `http://${LOOPBACK}:${(this.#server.address() as AddressInfo).port}`
  }

  /** The edge's settings. */
  get edgeVars(): Record<string, string> {
    return {
      SHOP_JWKS_URL: `${this.#url}/jwks`,
      SHOP_ISSUER: ISSUER,
      SHOP_AUDIENCE: AUDIENCE,
      SHOP_SIGN_IN_URL: `${ISSUER}/sign-in?return={return}`,
    }
  }

  session(account: string): string {
    const iat = Math.floor(Date.now() / 1000)
    const claims = base64url({ iss: ISSUER, aud: AUDIENCE, sub: account, iat, exp: iat + SESSION_SECONDS })
    const text = `${this.#head}.${claims}`
    return `${text}.${sign('sha256', Buffer.from(text), { key: this.#key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

interface IssuerOptions {
  readonly kind: Identities
  readonly shop: Shop | undefined
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
    if (shop) headers.push(`x-shop-authorization: Bearer ${shop.session(name)}`)
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
