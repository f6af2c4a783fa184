/**
 * Records intents whose process died, or that came while the ledger was away. Any worker may do it; the ledger
 * records each once. They are retried for as long as it takes; only one that the ledger can never take is set aside
 * for a person.
 */
import type { Logger } from 'pino'
import { assertExists } from '../../shared/lib/assert.ts'
import type { Metrics } from '../base/metrics.ts'
import { note } from '../findings/finding-queries.ts'
import type { Sql } from '../ledger/connection.ts'
import { record } from '../ledger/record.ts'
import type { SaleWork } from '../sales/sale-work.ts'
import type { Sales } from '../sales/sales.ts'
import type { Gate, Gates } from './gate/gate.ts'
import { refused } from './gate/hold-ends.ts'
import { type Intent, withoutContact } from './intents.ts'

interface IntentDeps {
  readonly sql: Sql
  readonly gates: Gates
  readonly metrics: Pick<Metrics, 'orders' | 'findings'>
  readonly log: Logger
}

/** Intents read at once, some MB; the oldest are recorded first. */
const READ = 10_000
const BATCH = 500
/** Younger intents are being recorded by the process that made them. */
const INTENT_GRACE_MS = 1_500

export async function recordAllIntents(
  deps: IntentDeps & { readonly sales: Sales; readonly work: SaleWork },
): Promise<void> {
  await deps.work.each('intent recorder', deps.sales.inUse(), ({ sale_id }) =>
    recordIntents(deps, sale_id, INTENT_GRACE_MS).catch((error) => {
      deps.sales.writes.heard(error)
      throw error
    }),
  )
}

/** Records the intents of one sale that are older than `minAgeMs`. */
export async function recordIntents(deps: IntentDeps, saleId: string, minAgeMs: number): Promise<void> {
  const gate = deps.gates.of(saleId)
  if ((await gate.intents.count()) === 0) return
  for (let read = READ; read === READ; ) {
    const intents = await gate.intents.read(READ, minAgeMs)
    read = intents.length
    for (let at = 0; at < read; at += BATCH) {
      const taken = await gate.intents.take(intents.slice(at, at + BATCH))
      if (taken.length > 0) await recordBatch({ ...deps, saleId, gate }, taken)
    }
  }
}

interface Recording extends IntentDeps {
  readonly saleId: string
  readonly gate: Gate
}

async function recordBatch(recording: Recording, batch: readonly Intent[]): Promise<void> {
  try {
    await recordReadable(recording, batch)
  } catch (error) {
    if (!isOfTheData(error)) throw error
    // One invalid intent fails the whole batch: record each by itself.
    for (const one of batch) {
      await recordReadable(recording, [one]).catch((reason) => {
        if (!isOfTheData(reason)) throw reason
        return setAside(recording, one, String(reason))
      })
    }
  }
}

async function recordReadable(recording: Recording, batch: readonly Intent[]): Promise<void> {
  const { sql, metrics, log, saleId: sale, gate } = recording
  const reservations = batch.map(({ reservation }) => reservation).filter((reservation) => reservation !== null)
  const verdicts = reservations.length > 0 ? await record(sql, sale, reservations, true) : []
  const rejected = reservations.filter(({ order }, i) => {
    const verdict = assertExists(verdicts[i], 'Each reservation of a batch has one verdict.')
    if (verdict.verdict === 'recorded') {
      metrics.orders.inc({ sale, status: 'reserved' })
      return false
    }
    // Already recorded, by the process that made it or by another worker.
    if (verdict.verdict === 'replay' && verdict.order === order) return false
    metrics.orders.inc({ sale, status: 'cancelled', reason: verdict.verdict })
    return true
  })
  // If this process dies before it removes the intents, the next round finds their orders recorded.
  await gate.settle(rejected.map(refused))
  await gate.intents.remove(batch.filter(({ reservation }) => reservation))
  for (const one of batch) {
    if (!one.reservation) await setAside(recording, one, 'it cannot be read')
  }
  log.info({ sale, intents: batch.length, refused: rejected.length }, 'recorded intents')
}

/** A damaged intent names no product, which stands for the whole sale, and no units. */
const UNREADABLE = { product: '', quantity: 0 }

async function setAside(recording: Recording, { order, reservation, stored }: Intent, error: string): Promise<void> {
  const { sql, metrics, log, saleId: sale, gate } = recording
  const { product, quantity } = reservation ?? UNREADABLE
  await note(sql, {
    sale,
    product,
    kind: 'unreadable_intent',
    subject: order,
    units: quantity,
    // The buyer's contact is left out, because a finding is stored for longer than personal data may be.
    detail: { intent: withoutContact(stored), error },
  })
  metrics.findings.inc({ sale, kind: 'unreadable_intent' })
  log.error({ sale, order, error }, 'set an intent aside')
  // With the hold its intent is gone.
  if (reservation) await gate.settle([refused(reservation)])
  else await gate.intents.remove([{ order, stored }])
}

/**
 * True for data that can never be recorded: Postgres rejects it (SQLSTATE classes 22, 23, P0), or the driver cannot
 * send it. Other errors come from the ledger's state, and end with it.
 */
function isOfTheData(error: unknown): boolean {
  const { code } = error as { code?: string }
  return (code !== undefined && /^(22|23|P0)/.test(code)) || error instanceof TypeError || code === 'UNDEFINED_VALUE'
}
