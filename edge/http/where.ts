/** Where a call comes from, by Cloudflare or by the headers that another front sets. */
import type { Call } from './call.ts'

export interface Where {
  /** ISO 3166-1 alpha-2; null if it is unknown. */
  readonly country: string | null
  /** The number of the network (ASN); null if it is unknown. */
  readonly asn: number | null
}

export function whereOf({ request, config }: Call): Where {
  const { country, asn } = (request.cf ?? {}) as { readonly country?: unknown; readonly asn?: unknown }
  const headerOf = (name: string | undefined) => (name === undefined ? null : request.headers.get(name))
  const countryText = String(country ?? headerOf(config.COUNTRY_HEADER) ?? '').toUpperCase()
  const asnText = String(asn ?? headerOf(config.ASN_HEADER) ?? '').replace(/^AS/i, '')
  return {
    country: /^[A-Z0-9]{2}$/.test(countryText) ? countryText : null,
    asn: /^\d{1,9}$/.test(asnText) ? Number(asnText) : null,
  }
}
