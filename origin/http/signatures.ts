/**
 * Ed25519 signatures, checked beside the event loop. One takes a third as long as all the rest of a checkout, so while
 * many come at once they travel to threads of their own, many to a message: one at a time (as WebCrypto would have it) the
 * way there would cost as much as the check. They are checked by curve25519-dalek, in less than half the time that the
 * OpenSSL in Node takes.
 */

import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { type Algorithm, verifySync } from '@node-rs/jsonwebtoken'
import { Batcher } from '../lib/batcher.ts'

export interface Signed {
  /** A public key, as PEM. */
  readonly key: string
  readonly token: string
}

/** Fewer are checked on the spot: there is time for them, and the way would only be a delay. */
const WORTH_THE_WAY = 4
/**
 * Most in a thread's batch, some 20 ms of work. Who was checked together travels on together: small batches here are
 * small calls to Redis and small transactions as well, and with 32 each of 1,000 buyers would cost a quarter more.
 */
const BATCH = 500
const MAX_WAITING = 20_000
const MAX_THREADS = 4

/** What is checked: the signature alone. What claims must be is decided in shared/tokens.ts, by the caller's clock. */
export const signedBy = (alg: 'EdDSA' | 'HS256') => ({
  algorithms: [alg as Algorithm],
  requiredSpecClaims: [],
  validateExp: false,
})
const ADMISSION_RULES = signedBy('EdDSA')

export function holds({ key, token }: Signed): boolean {
  try {
    verifySync(token, key, ADMISSION_RULES)
    return true
  } catch {
    return false
  }
}

export class Signatures {
  readonly #threads: readonly Thread[]
  readonly #checks: Batcher<Signed, boolean>

  constructor(threads = Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1))) {
    this.#threads = Array.from({ length: threads }, () => new Thread())
    // One batch more than there are threads lies ready for the first of them that is done.
    const limits = { size: BATCH, concurrency: threads + 1, queue: MAX_WAITING }
    this.#checks = new Batcher(limits, (batch) => this.#check(batch))
  }

  check(signed: Signed): Promise<boolean> {
    return this.#checks.add(signed)
  }

  async #check(batch: readonly Signed[]): Promise<readonly boolean[]> {
    if (batch.length < WORTH_THE_WAY) return batch.map(holds)
    const freest = this.#threads.reduce((a, b) => (b.batches < a.batches ? b : a))
    try {
      return await freest.check(batch)
    } catch {
      return batch.map(holds)
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.stop()))
  }
}

/** A thread that does its batches one after the other; one that has died is started again with the next batch. */
class Thread {
  #worker: Worker | undefined
  readonly #answers: PromiseWithResolvers<readonly boolean[]>[] = []

  /** Batches it has yet to answer. */
  get batches(): number {
    return this.#answers.length
  }

  check(batch: readonly Signed[]): Promise<readonly boolean[]> {
    this.#worker ??= this.#start()
    this.#worker.postMessage(batch)
    // Only what was sent is answered: one more in the row would be given the verdicts of the next.
    const answer = Promise.withResolvers<readonly boolean[]>()
    this.#answers.push(answer)
    return answer.promise
  }

  #start(): Worker {
    const worker = new Worker(new URL('./signature-thread.ts', import.meta.url))
    worker.on('message', (held: readonly boolean[]) => {
      // What one that has died had still said is about batches that were checked elsewhere.
      if (this.#worker === worker) this.#answers.shift()?.resolve(held)
    })
    const died = (why: unknown) => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      for (const answer of this.#answers.splice(0)) answer.reject(new Error(`a thread ended: ${why}`))
    }
    worker.on('error', died)
    worker.on('exit', died)
    worker.unref()
    return worker
  }

  async stop(): Promise<void> {
    await this.#worker?.terminate()
  }
}
