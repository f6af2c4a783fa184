/**
 * Bounds on waiting in tests. No test judges how long something takes: a test awaits a state, and these bounds only end what
 * hangs. `TEST_PATIENCE=5 npm test` multiplies them, for a machine that is slow.
 */

/** How many times as long as usual everything may take. */
export const PATIENCE = Number(process.env.TEST_PATIENCE ?? 1)

/** A state that a test awaits (`expect.poll`, `vi.waitFor`, `eventually`) is there by then. */
export const POLL_WITHIN_MS = 20_000 * PATIENCE

/** One test, and one hook. */
export const TEST_WITHIN_MS = 60_000 * PATIENCE
