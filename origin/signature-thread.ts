/** A thread that checks signatures: a batch comes, and its verdicts go back. See signatures.ts. */
import type { KeyObject } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import { holds, type Message } from './signatures.ts'

parentPort?.on('message', ({ keys, signed }: Message) => {
  parentPort?.postMessage(
    signed.map(([key, text, signature]) => holds({ key: keys[key] as KeyObject, text, signature })),
  )
})
