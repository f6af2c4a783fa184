/**
 * Changes of sales that operators make while the ledger is away: a pause, a resumption, an announcement. They are
 * noted in Redis, take effect at once, and are written to the ledger in the order of their times once it is back. Pure.
 */
import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { AnnouncementRequest, PauseRequest } from '../../shared/api/operators/requests.ts'
import type { SaleRow } from '../ledger/sale-row.ts'

const common = {
  /** The audit entry has it as its idempotency key, so that a change is written once. */
  id: v.string(),
  sale: v.string(),
  operator: v.string(),
  /** The time of the change by the ledger's clock, as this process continued it. */
  at_ms: v.number(),
}

export const NotedChange = v.variant('action', [
  v.object({ ...common, action: v.literal('pause'), ...PauseRequest.entries }),
  v.object({ ...common, action: v.literal('resume') }),
  v.object({ ...common, action: v.literal('announce'), ...AnnouncementRequest.entries }),
])
export type NotedChange = v.InferOutput<typeof NotedChange>

export type NewChange = {
  [Action in NotedChange['action']]: Omit<NotedChange & { action: Action }, 'id' | 'at_ms'>
}[NotedChange['action']]

/** The order in which the changes were made, whichever process noted them first. */
export const inOrder = (changes: readonly NotedChange[]): readonly NotedChange[] =>
  changes.toSorted((a, b) => a.at_ms - b.at_ms || (a.id < b.id ? -1 : 1))

/**
 * The note that a change repeats, as a second press of a button does. It is not noted again: as long as a sale has
 * notes its changes are noted, so that one pressed all the time would keep the sale from its ledger.
 */
export function repeated(change: NewChange, noted: readonly NotedChange[]): NotedChange | undefined {
  const isText = ({ action }: Pick<NotedChange, 'action'>) => action === 'announce'
  const latest = noted.findLast((one) => one.sale === change.sale && isText(one) === isText(change))
  if (!latest) return undefined
  const { id: _, at_ms: __, ...same } = latest
  return isDeepStrictEqual(same, change) ? latest : undefined
}

/** The sale as it is with these changes, which are in order. Those of other sales do not count. */
export const withNoted = (sale: SaleRow, changes: readonly NotedChange[]): SaleRow =>
  changes.reduce((now, change) => (change.sale === now.sale_id ? changed(now, change) : now), sale)

function changed(sale: SaleRow, change: NotedChange): SaleRow {
  switch (change.action) {
    case 'pause':
      return { ...sale, paused: true, pause_reason: change.reason ?? null }
    case 'resume':
      return { ...sale, paused: false, pause_reason: null }
    case 'announce': {
      const { id, level, text, at_ms, until } = change
      const since = new Date(at_ms).toISOString()
      return { ...sale, announcement: { id, level, text, since, ...(until !== undefined && { until }) } }
    }
  }
}

/** An entry of the audit log about a sale. */
export interface LoggedChange {
  readonly action: string
  readonly at: Date
}

const OVERRIDES: Readonly<Record<NotedChange['action'], readonly string[]>> = {
  pause: ['paused', 'resumed', 'opened', 'ended'],
  resume: ['paused', 'resumed', 'opened', 'ended'],
  announce: ['announced', 'announcement ended'],
}

/** True if the ledger has a later change of the same kind, which another process made there: the later one stays. */
export const isOverridden = ({ action, at_ms }: NotedChange, logged: readonly LoggedChange[]): boolean =>
  logged.some((other) => OVERRIDES[action].includes(other.action) && other.at.getTime() > at_ms)

/** The latest of these changes of a sale; undefined if there is none. */
export const latestOf = (saleId: string, changes: readonly NotedChange[]): NotedChange | undefined =>
  changes.findLast(({ sale }) => sale === saleId)
