/**
 * Intents: reservations that the fast gate has made and that no one has recorded, because the process that should have
 * is gone, or because the ledger was away. Any worker records them; the ledger makes sure that it happens once. They
 * are tried for as long as it takes; only one that the ledger can never take is set aside, for a person to look at.
 */
import type { Logger } from 'pino'
import type { Sql } from '../ledger/connection.ts'
import { note } from '../ledger/findings.ts'
import { record } from '../ledger/record.ts'
import type { Metrics } from '../lib/metrics.ts'
import { productsInUse, type Sales } from '../sales/sales.ts'
import { type Gate, refused } from './gate.ts'
import type { Gates } from './gates.ts'
import type { Intent } from './intents.ts'
import type { ProductWork } from './product-work.ts'

interface Deps {
  readonly sql: Sql
  readonly gates: Gates
  readonly metrics: Pick<Metrics, 'orders' | 'findings'>
  readonly log: Logger
}

const BATCH = 500
/** Younger intents are on their way into the ledger with the process that made them. */
export const INTENT_GRACE_MS = 1_500

/** Records the intents of one product that are older than `minAgeMs`. */
export async function recordIntents(
  deps: Deps,
  sale: string,
  product: string,
  minAgeMs: number,
): Promise<void> {
  const gate = deps.gates.of(sale, product)
  for (let batch = BATCH; batch === BATCH; ) {
    const intents = await gate.intents(BATCH, minAgeMs)
    batch = intents.length
    if (batch > 0) await recordBatch({ deps, sale, product, gate }, intents)
  }
}

interface Stream {
  readonly deps: Deps
  readonly sale: string
  readonly product: string
  readonly gate: Gate
}

async function recordBatch(stream: Stream, batch: readonly Intent[]): Promise<void> {
  try {
    await recordReadable(stream, batch)
  } catch (error) {
    if (!isOfTheData(error)) throw error
    // One of them cannot be taken, and would keep the others from being: each for itself.
    for (const one of batch) {
      await recordReadable(stream, [one]).catch((reason) => {
        if (!isOfTheData(reason)) throw reason
        return setAside(stream, one, String(reason))
      })
    }
  }
}

async function recordReadable(stream: Stream, batch: readonly Intent[]): Promise<void> {
  const { deps, sale, product, gate } = stream
  const intents = batch.flatMap((one) => one.intent ?? [])
  const verdicts = intents.length > 0 ? await record(deps.sql, sale, intents, true) : []
  const came = verdicts.map((one, i) =>
    one.verdict === 'replay' && one.order === intents[i]?.order ? 'recorded before' : one.verdict,
  )
  for (const verdict of came) {
    if (verdict === 'recorded') deps.metrics.orders.inc({ sale, status: 'reserved' })
    else if (verdict !== 'recorded before')
      deps.metrics.orders.inc({ sale, status: 'cancelled', reason: verdict })
  }
  // The ledger is ahead of the gate from here on; dying now only means that the same is found recorded next time.
  const untaken = intents.filter((_, i) => came[i] !== 'recorded' && came[i] !== 'recorded before')
  await gate.settle(untaken.map(refused))
  await gate.acknowledge(batch.flatMap((one) => (one.intent ? one.entry : [])))
  for (const one of batch) {
    if (!one.intent) await setAside(stream, one, 'it cannot be read')
  }
  deps.log.info({ sale, product, intents: batch.length, refused: untaken.length }, 'intents recorded')
}

async function setAside(stream: Stream, { entry, intent, fields }: Intent, error: string): Promise<void> {
  const { deps, sale, product, gate } = stream
  const about = { sale, product, kind: 'unreadable_intent', subject: entry } as const
  await note(deps.sql, { ...about, units: intent?.quantity ?? 0, detail: { intent: fields, error } })
  deps.metrics.findings.inc({ sale, kind: 'unreadable_intent' })
  deps.log.error({ sale, product, entry, error }, 'an intent was set aside')
  if (intent) await gate.settle([refused(intent)])
  await gate.acknowledge([entry])
}

/**
 * Errors by which Postgres says that what it was given can never be right (SQLSTATE classes 22, 23, P0), and the
 * library that it is not of the shape it can send; everything else is the ledger's state, and passes.
 */
function isOfTheData(error: unknown): boolean {
  const { code } = error as { code?: string }
  return /^(22|23|P0)/.test(code ?? '') || error instanceof TypeError || code === 'UNDEFINED_VALUE'
}

/** One round over all products. */
export async function recordAllIntents(
  deps: Deps & { readonly sales: Sales; readonly work: ProductWork },
): Promise<void> {
  await deps.work.each('intent recorder', productsInUse(deps.sales), ({ sale, product }) =>
    recordIntents(deps, sale, product, INTENT_GRACE_MS),
  )
}
