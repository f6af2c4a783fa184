/**
 * The network address of a caller: the one of the connection or, behind a proxy, the one that the proxy writes into a
 * header.
 */
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import ipaddr from 'ipaddr.js'
import { forwardedAddress } from '../../shared/lib/address.ts'
import { headerOf } from './http/request.ts'

/** One subscriber has a whole /64 of IPv6. */
const SUBSCRIBER_BYTES = 8

/** The caller's IPv4 address or /64 of IPv6, to count calls by. `header` is `ADDRESS_HEADER`, in small letters. */
export function clientAddress(c: Context, header: string | undefined): string {
  const sent = header === undefined ? undefined : headerOf(c, header as Lowercase<string>)
  const { incoming } = Object(c.env) as Partial<HttpBindings>
  const address = forwardedAddress(sent ?? '') ?? incoming?.socket?.remoteAddress ?? 'unknown'
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, SUBSCRIBER_BYTES).join('.')
}
