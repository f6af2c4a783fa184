/**
 * Names of visitors that last for a day, made of what must not be stored: an address and a user agent. Both halves
 * derive the day's key from EDGE_TOKEN, so that the origin can compare an address in a rule with the hash in an event.
 */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import ipaddr from 'ipaddr.js'
import { hmacOf } from '../../lib/hash.ts'
import { RecentMap } from '../../lib/recent-map.ts'

/** 64 bits: among a million visitors of a day, two share a name with a probability of 1 to 37 million. */
const HEX_DIGITS = 16

export type DayKey = ReturnType<typeof hmac.create>

const keys = new RecentMap<string, DayKey>(8)

/** The key of the day (UTC) of a moment. */
export function dayKey(edgeToken: string, atMs: number): DayKey {
  const day = new Date(atMs).toISOString().slice(0, 10)
  return keys.getOrAdd(`${day} ${edgeToken}`, () => hmac.create(sha256, hmacOf(utf8ToBytes(edgeToken), `views ${day}`)))
}

export const addressHash = (key: DayKey, address: string) => hashed(key, address)
/** No address contains a line break. */
export const pseudonymOf = (key: DayKey, address: string, userAgent: string) => hashed(key, `${address}\n${userAgent}`)

const hashed = (key: DayKey, text: string) =>
  bytesToHex(key.clone().update(utf8ToBytes(text)).digest()).slice(0, HEX_DIGITS)

/** The smallest networks that an event names. */
const NETWORK_BITS = { ipv4: 24, ipv6: 48 } as const

/** The network around an address, such as `203.0.113.0/24` or `2001:db8:7::/48`; empty for what is no address. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return ''
  const parsed = ipaddr.process(address)
  const bits = NETWORK_BITS[parsed.kind()]
  const Kind = parsed.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6
  return `${Kind.networkAddressFromCIDR(`${parsed}/${bits}`)}/${bits}`
}

/** A single address, or a network that no event names more exactly than. */
export function isRuleAddress(text: string): boolean {
  if (!ipaddr.isValidCIDR(text)) return ipaddr.isValid(text)
  const [address, bits] = ipaddr.parseCIDR(text)
  return bits <= NETWORK_BITS[address.kind()]
}

/**
 * Returns a test whether an event is from one of these addresses and networks. A single address is compared by its
 * hash of the event's day.
 */
export function fromAddresses(list: readonly string[], edgeToken: string) {
  const ranges = list.filter((text) => ipaddr.isValidCIDR(text)).map((text) => ipaddr.parseCIDR(text))
  const singles = list.filter((text) => !ipaddr.isValidCIDR(text)).map((text) => ipaddr.process(text).toString())
  const hashes = new RecentMap<DayKey, ReadonlySet<string>>(8)
  const isInRange = (network: string) => {
    if (network === '') return false
    const [first] = ipaddr.parseCIDR(network)
    return ranges.some((range) => range[0].kind() === first.kind() && first.match(range))
  }
  const networks = new RecentMap<string, boolean>(10_000)
  return ({ network, address, at_ms }: { network: string; address: string; at_ms: number }): boolean => {
    const key = dayKey(edgeToken, at_ms)
    const ofDay = hashes.getOrAdd(key, () => new Set(singles.map((single) => addressHash(key, single))))
    return ofDay.has(address) || networks.getOrAdd(network, () => isInRange(network))
  }
}
