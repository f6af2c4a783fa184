/**
 * Starts the origin of the edge's tests (test-origin-server.ts) once for all files, in its own thread: the waiting
 * room waits less than a second for it, and vitest's own thread is busy with modules and reports.
 */
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { TestProject } from 'vitest/node'

export default async function setup(project: TestProject) {
  const server = new Worker(fileURLToPath(new URL('./test-origin-server.ts', import.meta.url)))
  const [port] = await once(server, 'message')
  project.provide('originUrl', `http://127.0.0.1:${port}`)
  return () => server.terminate()
}

declare module 'vitest' {
  interface ProvidedContext {
    originUrl: string
  }
}
