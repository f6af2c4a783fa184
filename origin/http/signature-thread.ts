/** A thread that checks signatures: a batch comes, and its verdicts go back. See signatures.ts. */
import { parentPort } from 'node:worker_threads'
import { holds, type Signed } from './signatures.ts'

parentPort?.on('message', (batch: readonly Signed[]) => parentPort?.postMessage(batch.map(holds)))
