/**
 * The runner, or a worker whose runner was killed, would leave its servers behind when a signal kills it. It exits instead,
 * and dev/processes.ts kills them as it does.
 */

/** Vitest kills the workers as soon as the runner is gone. Ctrl-C reaches them too, and so long they have to stop what is theirs. */
const WORKERS_STOP_WITHIN_MS = 1_000

// Once per process: a worker may run many files.
const here = globalThis as typeof globalThis & { leavesWithTheRunner?: true }
if (here.leavesWithTheRunner === undefined) {
  here.leavesWithTheRunner = true
  process.once('disconnect', () => process.exit(1))
  // Not `once`: npm passes Ctrl-C on a second time, which would kill the process while it cleans up.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, leave)
}

function leave(): never {
  const isRunner = !process.connected
  if (isRunner) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WORKERS_STOP_WITHIN_MS)
  process.exit(1)
}
