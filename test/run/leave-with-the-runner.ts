/**
 * A test process whose runner was killed, or that is killed by a signal, would leave its servers behind. It exits instead,
 * and dev/processes.ts kills them as it does.
 */
// Once per worker, which may run many files.
const worker = globalThis as typeof globalThis & { leavesWithTheRunner?: true }
if (worker.leavesWithTheRunner === undefined) {
  worker.leavesWithTheRunner = true
  process.once('disconnect', () => process.exit(1))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
}
