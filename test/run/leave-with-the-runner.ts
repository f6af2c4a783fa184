/**
 * A signal that kills the runner, or a worker whose runner was killed, would leave its servers behind. This code
 * makes the process exit instead, and dev/lib/processes.ts kills the servers at its exit.
 */

/**
 * Vitest kills the workers as soon as the runner has ended. Ctrl-C reaches them too, and they get this long to stop
 * their servers.
 */
const WORKERS_STOP_WITHIN_MS = 1_000

// The handlers are installed once per process, because a worker may run many files.
const here = globalThis as typeof globalThis & { leavesWithTheRunner?: true }
if (here.leavesWithTheRunner === undefined) {
  here.leavesWithTheRunner = true
  process.once('disconnect', () => process.exit(1))
  // The handlers stay (`on`, not `once`), because npm passes Ctrl-C on a second time, which would kill the process
  // while it cleans up.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, leave)
}

function leave(): never {
  const isRunner = !process.connected
  if (isRunner) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WORKERS_STOP_WITHIN_MS)
  process.exit(1)
}
