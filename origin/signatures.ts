/**
 * Ed25519 signatures, checked beside the event loop. One takes as long as all the rest of a checkout, so while many
 * come at once they travel to threads of their own, many to a message: one at a time (as WebCrypto would have it) the
 * way there would cost as much as the check.
 */

import { type KeyObject, verify } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { Batcher } from './batch.ts'

export interface Signed {
  readonly key: KeyObject
  readonly text: string
  /** In base64url. */
  readonly signature: string
}

/** What a thread is sent: for each signature its key, its text and itself. */
export interface Message {
  readonly keys: readonly KeyObject[]
  readonly signed: readonly (readonly [key: number, text: string, signature: string])[]
}

/** Fewer are checked on the spot: there is time for them, and the way would only be a delay. */
const WORTH_THE_WAY = 4
/** A thread's batch: some 4 ms of work, so that a batch is not waited for longer than the next commit. */
const BATCH = 32
const MAX_WAITING = 20_000
const MAX_THREADS = 4

export const holds = ({ key, text, signature }: Signed): boolean =>
  verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'))

export class Signatures {
  readonly #idle: Thread[]
  readonly #threads: readonly Thread[]
  readonly #checks: Batcher<Signed, boolean>

  constructor(threads = Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1))) {
    this.#threads = Array.from({ length: threads }, () => new Thread())
    this.#idle = [...this.#threads]
    this.#checks = new Batcher({ size: BATCH, concurrency: threads, queue: MAX_WAITING }, (batch) =>
      this.#check(batch),
    )
  }

  check(signed: Signed): Promise<boolean> {
    return this.#checks.add(signed)
  }

  async #check(batch: readonly Signed[]): Promise<readonly boolean[]> {
    const thread = batch.length < WORTH_THE_WAY ? undefined : this.#idle.pop()
    if (!thread) return batch.map(holds)
    try {
      return await thread.check(batch)
    } catch {
      return batch.map(holds)
    } finally {
      this.#idle.push(thread)
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.stop()))
  }
}

/** A thread that does one batch at a time; one that has died is started again with the next batch. */
class Thread {
  #worker: Worker | undefined
  #answer = Promise.withResolvers<readonly boolean[]>()

  check(batch: readonly Signed[]): Promise<readonly boolean[]> {
    this.#answer = Promise.withResolvers()
    this.#worker ??= this.#start()
    // A key costs as much on the way as twenty signatures: nearly always there is one for all.
    const keys = [...new Set(batch.map(({ key }) => key))]
    const signed = batch.map(({ key, text, signature }) => [keys.indexOf(key), text, signature] as const)
    this.#worker.postMessage({ keys, signed } satisfies Message)
    return this.#answer.promise
  }

  #start(): Worker {
    const worker = new Worker(new URL('./signature-thread.ts', import.meta.url))
    worker.on('message', (held: readonly boolean[]) => this.#answer.resolve(held))
    const died = (why: unknown) => {
      if (this.#worker === worker) this.#worker = undefined
      this.#answer.reject(new Error(`a thread ended: ${why}`))
    }
    worker.on('error', died)
    worker.on('exit', died)
    worker.unref()
    return worker
  }

  async stop(): Promise<void> {
    this.#answer.promise.catch(() => {})
    await this.#worker?.terminate()
  }
}
