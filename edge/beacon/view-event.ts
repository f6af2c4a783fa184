/** Makes the event of a beacon. Address and user agent do not leave the edge: the event has hashes of them. */
import { isbot } from 'isbot'
import type { InferOutput } from 'valibot'
import { sourceLabel } from '../../shared/api/views/source.ts'
import type { Device, ViewBeacon, ViewEvent } from '../../shared/api/views/view-events.ts'
import { addressHash, dayKey, networkOf, pseudonymOf } from '../../shared/api/views/view-identity.ts'
import { addressOf, type Call } from '../http/call.ts'
import { whereOf } from '../http/where.ts'

/** True if the visitor has asked not to be recorded, by Global Privacy Control or Do Not Track. */
export const wantsNoRecord = ({ headers }: Request): boolean =>
  headers.get('sec-gpc') === '1' || headers.get('dnt') === '1'

export function viewEvent(sent: InferOutput<typeof ViewBeacon>, sale: string | null, call: Call): ViewEvent {
  const { request, config, nowMs } = call
  const address = addressOf(call) ?? ''
  const userAgent = request.headers.get('user-agent') ?? ''
  const key = dayKey(config.EDGE_TOKEN, nowMs)
  const { country, asn } = whereOf(call)
  return {
    view: sent.view,
    page: sent.page,
    sale,
    seen_seconds: sent.seen_seconds,
    at_ms: nowMs,
    pseudonym: pseudonymOf(key, address, userAgent),
    address: addressHash(key, address),
    network: networkOf(address),
    asn,
    country,
    device: deviceOf(userAgent),
    language: sent.language ?? null,
    source: sourceLabel(sent.source),
  }
}

/** The class of device by the user agent. Tablets with Android say no "Mobile", and iPads may say "Macintosh". */
export function deviceOf(userAgent: string): Device {
  if (userAgent === '') return 'unknown'
  if (isbot(userAgent)) return 'bot'
  if (/ipad|tablet|kindle|silk|android(?!.*mobile)/i.test(userAgent)) return 'tablet'
  if (/mobile|iphone|ipod|android/i.test(userAgent)) return 'phone'
  return /windows|macintosh|linux|x11|cros/i.test(userAgent) ? 'desk' : 'unknown'
}
