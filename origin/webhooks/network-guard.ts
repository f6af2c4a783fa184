/**
 * Decides which addresses a webhook may reach: public ones, unless private ones are allowed. A name is checked when
 * it is resolved for the connection, so that a name that changes from a public to a private address reaches nothing.
 */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/** This address is in a public range, but the host of a virtual machine (Azure) answers it. */
const METADATA = ['168.63.129.16']
/** The part of IPv6 that is assigned to public networks. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3')

class PrivateAddress extends Error {
  override readonly name = 'PrivateAddress'
}

export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  // An IPv4 address within IPv6 is checked as IPv4.
  const real = ipaddr.process(address)
  const isGlobal = real.kind() === 'ipv4' || real.match(GLOBAL_IPV6)
  return isGlobal && real.range() === 'unicast' && !METADATA.includes(real.toString())
}

export const refuseHost = (host: string) =>
  new PrivateAddress(`${host} is not an address of the public Internet, and WEBHOOKS_ALLOW_PRIVATE is not set`)

/** The address in a URL, if it is not a name. It needs no look-up. */
export function literalIn(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return ipaddr.isValid(host) ? host : undefined
}

export type Resolve = (
  host: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** A look-up for connections, which fails if any address is not public. */
export const publicLookup = (resolve: Resolve = lookup) =>
  ((host: string, options: LookupOptions, done: (...args: unknown[]) => void) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error)
      const [first] = addresses
      if (!first || !addresses.every(({ address }) => isPublic(address))) return done(refuseHost(host))
      if (options.all) done(null, addresses)
      else done(null, first.address, first.family)
    })
  }) as LookupFunction
