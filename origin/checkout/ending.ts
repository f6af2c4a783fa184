/**
 * How an attempt ends that has not become an order. What a buyer hears then is final, "nothing was taken" or a
 * refusal, only if nobody can read its intent any more (see stock/intents.ts), or if the ledger has noted the refusal
 * under the order's id: whoever records the intent later is told so. Pure.
 */
import type { GivenBack } from '../stock/gate/hold-ends.ts'

/**
 * What the gate knows of the attempt. none: it never had an intent; unknown: it may have one, which nobody has given
 * back.
 */
export type InGate = GivenBack | 'none' | 'unknown'

/** What the ledger knows of it. noted: it refuses the attempt whenever it comes again. */
export type InLedger = 'nothing' | 'perhaps an order' | 'refused' | 'noted'

/**
 * final: it is refused for good. processing: its buyer was promised an order, which workers record, or refuse with a
 * note. note: the ledger is asked to note the refusal, and may make the order after all. doubt: nobody knows whether
 * it becomes an order.
 */
export type Ending = 'final' | 'processing' | 'note' | 'doubt'

export function endingOf(gate: InGate, ledger: InLedger): Ending {
  if (ledger === 'noted') return 'final'
  if (gate === 'promised') return 'processing'
  if (ledger === 'perhaps an order') return 'doubt'
  if (gate === 'none' || gate === 'given back') return 'final'
  return ledger === 'refused' ? 'note' : 'doubt'
}
