/** Reads network addresses from the headers in which proxies forward them. */
import ipaddr from 'ipaddr.js'

/**
 * The address that the nearest proxy saw, in its canonical form. `header` is the value of X-Forwarded-For, of a header
 * with one address such as CF-Connecting-IP, or of Forwarded (RFC 7239). A proxy appends what it sees, so that only
 * the last element counts; what stands before is the caller's own claim. Undefined: there is no address in it.
 */
export function forwardedAddress(header: string): string | undefined {
  const last = header.slice(header.lastIndexOf(',') + 1)
  const parts = last.split(';').map((part) => part.trim())
  const node = parts.find((part) => /^for=/i.test(part))?.slice('for='.length) ?? last
  const text = node.trim().replace(/^"|"$/g, '')
  // An IPv6 address stands in brackets if a port follows, and may have a zone.
  const address = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
  const [withoutZone = ''] = address.split('%', 1)
  return ipaddr.isValid(withoutZone) ? ipaddr.process(withoutZone).toString() : undefined
}
