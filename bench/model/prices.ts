/**
 * The prices of Cloudflare, and of a CDN in front of it, for a sale (list prices in dollars, without allowances).
 *
 * Cloudflare (developers.cloudflare.com/workers/platform/pricing and /durable-objects/platform/pricing, 2026-11): a
 * request is billed whether Workers Cache or the Worker serves it; processor time is billed only if the Worker runs
 * (/workers/cache, "Billing").
 */
import { n } from '../lib/figures.ts'

/** The prices of Workers Paid, per million. */
export const PRICES = {
  workerRequest: 0.3,
  workerCpuMs: 0.02,
  objectRequest: 0.15,
  /** The price while objects are awake; each is charged as 128 MB. */
  objectGbSeconds: 12.5,
  rowWritten: 1,
} as const
const OBJECT_GB = 0.128

export interface Cdn {
  readonly name: string
  readonly perMillion: number
  readonly perGb: number
}
/** The CDN for schedules (SCHEDULE_URL), which bills by the byte (docs.bunny.net/cdn/pricing); 2026-11. */
export const SCHEDULE_CDN: Cdn = { name: 'a CDN that bills bytes', perMillion: 0, perGb: 0.01 }
/**
 * Two kinds of CDNs: the one above, and one that also bills requests (aws.amazon.com/cloudfront/pricing, US);
 * 2026-11.
 */
export const CDNS: readonly Cdn[] = [
  SCHEDULE_CDN,
  { name: 'a CDN that bills requests and bytes', perMillion: 1, perGb: 0.085 },
]

interface Usage {
  /** The requests that the Worker, or Workers Cache in front of it, serves. */
  readonly workerRequests: number
  readonly workerCpuMs: number
  readonly objectRequests: number
  readonly objectSeconds: number
  readonly rowsWritten: number
}

export function costOf(u: Usage): { what: string; how: string; dollars: number }[] {
  const cost = (what: string, how: string, units: number, price: number) => ({
    what,
    how,
    dollars: (units / 1e6) * price,
  })
  return [
    cost('Worker requests', count(u.workerRequests), u.workerRequests, PRICES.workerRequest),
    cost('Worker processor time', `${count(u.workerCpuMs / 1000)} s`, u.workerCpuMs, PRICES.workerCpuMs),
    cost('Durable Object requests', count(u.objectRequests), u.objectRequests, PRICES.objectRequest),
    cost('Durable Objects awake', `${count(u.objectSeconds)} s`, u.objectSeconds * OBJECT_GB, PRICES.objectGbSeconds),
    cost('Rows written', count(u.rowsWritten), u.rowsWritten, PRICES.rowWritten),
  ]
}

export const sum = (costs: readonly { dollars: number }[]) => costs.reduce((total, { dollars }) => total + dollars, 0)

export const count = (value: number) => (value >= 100 ? n(value) : String(Math.round(value * 100) / 100))
