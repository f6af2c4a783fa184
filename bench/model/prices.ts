/** What Cloudflare charges for a sale (Workers Paid, list prices in dollars, no allowances). */
import { n } from '../lib/figures.ts'

/** Per million. */
export const PRICES = {
  workerRequest: 0.3,
  workerCpuMs: 0.02,
  objectRequest: 0.15,
  /** While objects are awake; each is charged as 128 MB. */
  objectGbSeconds: 12.5,
  rowWritten: 1,
} as const
const OBJECT_GB = 0.128

export interface Usage {
  readonly workerRequests: number
  readonly workerCpuMs: number
  readonly objectRequests: number
  readonly objectSeconds: number
  readonly rowsWritten: number
}

export function costOf(u: Usage): { what: string; how: string; dollars: number }[] {
  const cost = (what: string, how: string, units: number, price: number) => ({
    ...{ what, how, dollars: (units / 1e6) * price },
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
