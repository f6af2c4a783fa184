/**
 * Records intents whose process died, or that came while the ledger was away. Any worker may do it; the ledger records each
 * once. They are retried for as long as it takes; only one that the ledger can never take is set aside for a person.
 */
import type { Logger } from 'pino'
import { note } from '../findings/finding-queries.ts'
import type { Sql } from '../ledger/connection.ts'
import { record } from '../ledger/record.ts'
import type { Metrics } from '../lib/metrics.ts'
import type { Sales } from '../sales/sales.ts'
import { type Gate, type Gates, refused } from './gate.ts'
import { withoutContact } from './intents.ts'
import type { ProductWork } from './product-work.ts'
import type { ProductRef } from './reconciliation-queries.ts'
import type { Intent } from './stream-intents.ts'

interface IntentDeps {
  readonly sql: Sql
  readonly gates: Gates
  readonly metrics: Pick<Metrics, 'orders' | 'findings'>
  readonly log: Logger
}

/** Read at once, some MB, of which the oldest are recorded first. */
const READ = 10_000
const BATCH = 500
/** Younger intents are being recorded by the process that made them. */
export const INTENT_GRACE_MS = 1_500

export async function recordAllIntents(
  deps: IntentDeps & { readonly sales: Sales; readonly work: ProductWork },
): Promise<void> {
  await deps.work.each('intent recorder', deps.sales.productsInUse(), (ref) =>
    recordIntents(deps, ref, INTENT_GRACE_MS),
  )
}

/** Records the intents of one product that are older than `minAgeMs`. */
export async function recordIntents(deps: IntentDeps, ref: ProductRef, minAgeMs: number): Promise<void> {
  const gate = deps.gates.of(ref.sale, ref.product)
  for (let read = READ; read === READ; ) {
    const intents = await gate.intents(READ, minAgeMs)
    read = intents.length
    for (let at = 0; at < read; at += BATCH) await recordBatch({ ...deps, ref, gate }, intents.slice(at, at + BATCH))
  }
}

interface Stream extends IntentDeps {
  readonly ref: ProductRef
  readonly gate: Gate
}

async function recordBatch(stream: Stream, batch: readonly Intent[]): Promise<void> {
  try {
    await recordReadable(stream, batch)
  } catch (error) {
    if (!isOfTheData(error)) throw error
    // One of them cannot be recorded and would keep the others from it: each by itself.
    for (const one of batch) {
      await recordReadable(stream, [one]).catch((reason) => {
        if (!isOfTheData(reason)) throw reason
        return setAside(stream, one, String(reason))
      })
    }
  }
}

async function recordReadable(stream: Stream, batch: readonly Intent[]): Promise<void> {
  const { sql, metrics, log, ref, gate } = stream
  const intents = batch.flatMap((one) => one.intent ?? [])
  const verdicts = intents.length > 0 ? await record(sql, ref.sale, intents, true) : []
  const rejected = intents.filter((intent, i) => {
    const verdict = verdicts[i]
    if (verdict?.verdict === 'recorded') {
      metrics.orders.inc({ sale: ref.sale, status: 'reserved' })
      return false
    }
    // Recorded before, by its own process or another worker.
    if (verdict?.verdict === 'replay' && verdict.order === intent.order) return false
    metrics.orders.inc({ sale: ref.sale, status: 'cancelled', reason: verdict?.verdict ?? '' })
    return true
  })
  // If this process dies here, the next round finds them recorded.
  await gate.settle(rejected.map(refused))
  await gate.acknowledge(batch.flatMap((one) => (one.intent ? one.entry : [])))
  for (const one of batch) {
    if (!one.intent) await setAside(stream, one, 'it cannot be read')
  }
  log.info({ ...ref, intents: batch.length, refused: rejected.length }, 'recorded intents')
}

async function setAside(stream: Stream, { entry, intent, stored }: Intent, error: string): Promise<void> {
  const { sql, metrics, log, ref, gate } = stream
  await note(sql, {
    ...ref,
    kind: 'unreadable_intent',
    subject: entry,
    units: intent?.quantity ?? 0,
    // The buyer's contact is not to be kept for as long as a finding.
    detail: { intent: stored.map(withoutContact), error },
  })
  metrics.findings.inc({ sale: ref.sale, kind: 'unreadable_intent' })
  log.error({ ...ref, entry, error }, 'set an intent aside')
  if (intent) await gate.settle([refused(intent)])
  await gate.acknowledge([entry])
}

/**
 * True for data that can never be right: Postgres says so (SQLSTATE classes 22, 23, P0), or the driver cannot send it. Other
 * errors are of the ledger's state, and pass.
 */
function isOfTheData(error: unknown): boolean {
  const { code } = error as { code?: string }
  return /^(22|23|P0)/.test(code ?? '') || error instanceof TypeError || code === 'UNDEFINED_VALUE'
}
