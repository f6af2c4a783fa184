/** Determines the networks of an address: what counts as one caller, one subscriber, one company. */
import ipaddr from 'ipaddr.js'
import { RecentMap } from '../../../shared/lib/recent-map.ts'

/**
 * The prefix lengths of the networks around an address, the smallest network first. One subscriber has a whole /64 of
 * IPv6.
 */
const TIERS = { ipv4: [32, 24], ipv6: [64, 56, 48] } as const

/**
 * The networks of an address, the smallest first, each with a unique name. An address in an unknown form is its own
 * network, so that calls without an address count as one caller.
 */
export function networksOf(address: string): readonly string[] {
  const known = networks.get(address)
  if (known) return known
  if (!ipaddr.isValid(address)) return [address]
  const parsed = ipaddr.process(address)
  const bytes = parsed.toByteArray()
  const found = TIERS[parsed.kind()].map((bits) => `${bytes.slice(0, bits / 8).join('.')}/${bits}`)
  networks.set(address, found)
  return found
}

/** The networks of recent addresses are cached, because parsing an address takes ten times as long as a lookup. */
const networks = new RecentMap<string, readonly string[]>(10_000)

/** Returns a test whether an address is in a range in CIDR notation, or equals one address. */
export function rangeTest(range: string): (address: string) => boolean {
  const parsed = parseRange(range)
  return (address) => {
    if (!parsed || !ipaddr.isValid(address)) return false
    const asked = ipaddr.process(address)
    return asked.kind() === parsed[0].kind() && asked.match(parsed)
  }
}

/** The length of the prefix `::ffff:0:0/96`, below which IPv6 has the addresses of IPv4 (RFC 4291, 2.5.5.2). */
const MAPPED_BITS = 96

const LOCAL = new Set(['loopback', 'private', 'linkLocal', 'uniqueLocal'])

/**
 * True if a URL's host is this machine or in a private network, by its address or by a name that does not exist on
 * the internet.
 */
export function isLocalHost(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, '')
  if (ipaddr.isValid(name)) return LOCAL.has(ipaddr.process(name).range())
  return !name.includes('.') || /\.(localhost|local|internal)$/.test(name)
}

function parseRange(range: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | null {
  if (ipaddr.isValidCIDR(range)) {
    const [first, bits] = ipaddr.parseCIDR(range)
    const inIpv4 = ipaddr.process(first.toString())
    return bits >= MAPPED_BITS && inIpv4.kind() !== first.kind() ? [inIpv4, bits - MAPPED_BITS] : [first, bits]
  }
  if (!ipaddr.isValid(range)) return null
  const one = ipaddr.process(range)
  return [one, one.kind() === 'ipv4' ? 32 : 128]
}
