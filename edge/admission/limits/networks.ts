/** Addresses and the networks that they belong to: what counts as one caller, one subscriber, one company. */
import ipaddr from 'ipaddr.js'
import { RecentMap } from '../../../shared/lib/recent-map.ts'

/** Bits that two addresses of one network share, the smallest network first. One subscriber has a whole /64 of IPv6. */
const TIERS = { ipv4: [32, 24], ipv6: [64, 56, 48] } as const

/**
 * The networks of an address, the smallest first, each as a text that no other network has. An address in no known form is
 * one of its own, so that calls without any count as one caller.
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

/** Networks of recent addresses: parsing an address takes ten times as long as a lookup. */
const networks = new RecentMap<string, readonly string[]>(10_000)

/** A test of addresses against a range in CIDR notation, or one address. */
export function rangeTest(range: string): (address: string) => boolean {
  const parsed = parseRange(range)
  return (address) => {
    if (!parsed || !ipaddr.isValid(address)) return false
    const asked = ipaddr.process(address)
    return asked.kind() === parsed[0].kind() && asked.match(parsed)
  }
}

const LOCAL = new Set(['loopback', 'private', 'linkLocal', 'uniqueLocal'])

/** True for the host in a URL of this machine or of a private network, by its address or by a name that the internet has not. */
export function isLocalHost(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, '')
  if (ipaddr.isValid(name)) return LOCAL.has(ipaddr.process(name).range())
  return !name.includes('.') || /\.(localhost|local|internal)$/.test(name)
}

function parseRange(range: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | null {
  if (ipaddr.isValidCIDR(range)) return ipaddr.parseCIDR(range)
  if (!ipaddr.isValid(range)) return null
  const one = ipaddr.process(range)
  return [one, one.kind() === 'ipv4' ? 32 : 128]
}
