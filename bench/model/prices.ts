/** What Cloudflare charges for what a sale does (Workers Paid, list prices in dollars, allowances not taken off). */
import { n } from '../lib/figures.ts'

/** Per million. */
export const PRICES = {
  workerRequest: 0.3,
  objectRequest: 0.15,
  rowWritten: 1,
  /** Per million milliseconds of processor time. */
  workerCpuMs: 0.02,
  /** Per million gigabyte-seconds that objects are awake; one is charged as 128 MB. */
  objectGbSeconds: 12.5,
} as const
const OBJECT_GB = 0.128

export interface Usage {
  readonly workerRequests: number
  readonly workerCpuMs: number
  readonly objectRequests: number
  readonly objectSeconds: number
  readonly rowsWritten: number
}

export interface Cost {
  readonly what: string
  readonly how: string
  readonly dollars: number
}

export function costOf(usage: Usage): Cost[] {
  const million = (count: number, price: number) => (count / 1e6) * price
  return [
    {
      what: 'Worker requests',
      how: count(usage.workerRequests),
      dollars: million(usage.workerRequests, PRICES.workerRequest),
    },
    {
      what: 'Worker processor time',
      how: `${count(usage.workerCpuMs / 1000)} s`,
      dollars: million(usage.workerCpuMs, PRICES.workerCpuMs),
    },
    {
      what: 'Durable Object requests',
      how: count(usage.objectRequests),
      dollars: million(usage.objectRequests, PRICES.objectRequest),
    },
    {
      what: 'Durable Objects awake',
      how: `${count(usage.objectSeconds)} s`,
      dollars: million(usage.objectSeconds * OBJECT_GB, PRICES.objectGbSeconds),
    },
    {
      what: 'Rows written',
      how: count(usage.rowsWritten),
      dollars: million(usage.rowsWritten, PRICES.rowWritten),
    },
  ]
}

export const sum = (costs: readonly Cost[]) => costs.reduce((total, cost) => total + cost.dollars, 0)

export const count = (value: number) => (value >= 100 ? n(value) : String(Math.round(value * 100) / 100))
