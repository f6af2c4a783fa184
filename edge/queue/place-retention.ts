/**
 * Deletes who stood in a queue, a while after its sale has ended: everything that its ticket shards store. The waiting
 * room keeps its own record, which names nobody: it is the draw's proof, and without it a reader of the old sale's page
 * would start another draw.
 */
import { isFinal } from '../../shared/schedule.ts'
import { choicesOf, objectNames } from './numbers/tree.ts'
import type { SaleRecord } from './sale-record.ts'
import { latest } from './timeline.ts'

const DAY_MS = 24 * 3_600_000
/** Objects that are called with one alarm; a Worker may make 1,000 calls at least. */
const PART = 200
/** When an object did not respond, the same part is tried again after so long. */
const RETRY_MS = 60_000

interface Stored {
  readonly endedAtMs: number
  /** How many of the objects have deleted what they stored; null once all have. */
  readonly deleted: number | null
}

export class PlaceRetention {
  readonly #storage: DurableObjectStorage
  readonly #days: number
  #stored: Stored | undefined
  #notBeforeMs = 0

  constructor(storage: DurableObjectStorage, days: number) {
    this.#storage = storage
    this.#days = days
    this.#stored = storage.kv.get<Stored>('places')
  }

  /** Null if nothing is to be deleted: the sale has not ended, or all is deleted. */
  get #dueAtMs(): number | null {
    const stored = this.#stored
    if (stored === undefined || stored.deleted === null) return null
    return Math.max(stored.endedAtMs + this.#days * DAY_MS, this.#notBeforeMs)
  }

  /**
   * When the waiting room of a final phase must look at its sale next; null: never again. A sale that is sold out has
   * no other alarm that would see its end.
   */
  nextAtMs({ endsAtMs }: SaleRecord, nowMs: number): number | null {
    if (this.#stored) return this.#dueAtMs
    return endsAtMs !== null && endsAtMs > nowMs ? endsAtMs : nowMs + DAY_MS
  }

  /** A sale that lives again keeps its places until its next end. */
  note({ state, timeline }: SaleRecord, nowMs: number): void {
    const hasEnded = state.phase === 'ended' && isFinal(latest(timeline).schedule.phase)
    if (hasEnded && !this.#stored) this.#store({ endedAtMs: nowMs, deleted: 0 })
    if (!hasEnded && this.#stored) {
      this.#storage.kv.delete('places')
      this.#stored = undefined
    }
  }

  /** Deletes a part of the places that are due. `shards` is how many the queue has. */
  async deleteDue(queue: string, { state }: SaleRecord, shards: number, deletePlaces: (name: string) => Promise<void>) {
    const nowMs = Date.now()
    if (!this.#stored || (this.#dueAtMs ?? Number.POSITIVE_INFINITY) > nowMs) return
    const { endedAtMs, deleted } = this.#stored
    const hasChoices = (state.policy?.lines.length ?? 0) > 1
    const names = [queue, ...(hasChoices ? [choicesOf(state.sale)] : [])].flatMap((one) => objectNames(one, shards))
    const from = deleted ?? 0
    try {
      await Promise.all(names.slice(from, from + PART).map(deletePlaces))
    } catch (error) {
      console.warn(JSON.stringify({ msg: 'places were not deleted', queue, why: String(error) }))
      this.#notBeforeMs = nowMs + RETRY_MS
      return
    }
    this.#store({ endedAtMs, deleted: from + PART < names.length ? from + PART : null })
  }

  #store(stored: Stored): void {
    this.#stored = stored
    this.#storage.kv.put('places', stored)
  }
}
