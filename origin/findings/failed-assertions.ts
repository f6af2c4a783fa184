/**
 * Notes failed assertions: a log line, a metric for the alert, and one finding for each sentence. It watches every
 * assertion of the process, so that one is noted even if its error is caught and the work is tried again.
 */
import type { Logger } from 'pino'
import { type AssertionError, watchAssertions } from '../../shared/lib/assert.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Sql } from '../ledger/connection.ts'
import { NO_SALE, note } from './finding-queries.ts'

/** A sentence that fails again is counted at once, and written to its finding this often at most. */
const WRITE_EVERY_MS = 60_000
/** The sentences are constants of the code, so there are few; more than this many are counted and logged only. */
const MAX_SENTENCES = 500

const KIND = 'assertion_failed'

export interface FailedAssertionDeps {
  readonly metrics: Pick<Metrics, 'findings'>
  readonly log: Pick<Logger, 'error' | 'warn'>
  /** Writes the finding. */
  readonly write: (sentence: string) => Promise<unknown>
}

export const writeFinding = (sql: Sql) => (sentence: string) =>
  note(sql, { sale: NO_SALE, product: '', kind: KIND, subject: sentence, units: 0 })

/** Returns the function that ends it. */
export function noteFailedAssertions({ metrics, log, write }: FailedAssertionDeps): () => void {
  const writtenMs = new Map<string, number>()
  return watchAssertions((error: AssertionError) => {
    const { message } = error
    metrics.findings.inc({ sale: NO_SALE, kind: KIND })
    log.error({ error: error.stack ?? String(error) }, 'assertion failed')
    const lastMs = writtenMs.get(message)
    const nowMs = performance.now()
    if (lastMs === undefined ? writtenMs.size >= MAX_SENTENCES : nowMs - lastMs < WRITE_EVERY_MS) return
    writtenMs.set(message, nowMs)
    write(message).catch((failure) => {
      // The next failure of this sentence writes the finding.
      writtenMs.delete(message)
      log.warn({ error: String(failure) }, 'failed assertion not written')
    })
  })
}
