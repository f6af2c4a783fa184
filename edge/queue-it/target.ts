/** The addresses to which visitors return: those at the shop's own hosts, and no others. Pure. */
import type { QueueItCustomer } from '../http/queue-it-setting.ts'

type Shop = Pick<QueueItCustomer, 'hosts'>

/** Together with the place and its signature, the cookie that remembers it must stay below 4,096 bytes. */
const MAX_LENGTH = 2_000

/** The start of the shop, for a visitor whose connector named no target. */
export const startOf = ({ hosts: [host = ''] }: Shop): string => `https://${host}/`

/**
 * The target as every browser reads it; null unless it is at one of the shop's hosts. `http` is for development only.
 */
export function targetAt(text: string, { hosts }: Shop, isHttpAllowed: boolean): string | null {
  if (text.length > MAX_LENGTH || !URL.canParse(text)) return null
  const { protocol, host, username, password, href } = new URL(text)
  const isSafe = protocol === 'https:' || (isHttpAllowed && protocol === 'http:')
  // A name before the host could make another host look like the shop's.
  return isSafe && username === '' && password === '' && hosts.includes(host) && href.length <= MAX_LENGTH ? href : null
}

/** The target with the token in place of an earlier one. The rest of the query stays as it was written. */
export function withToken(target: string, token: string): string {
  const { origin, pathname, search, hash } = new URL(target)
  const others = search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !/^queueittoken(=|$)/i.test(pair))
  return `${origin}${pathname}?${[...others, `queueittoken=${token}`].join('&')}${hash}`
}
