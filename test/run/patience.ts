/**
 * Time limits of tests. No test judges how long something takes: it awaits a state, and these limits only end what
 * hangs. `TEST_PATIENCE=5 npm test` multiplies them for a slow machine.
 */

/** The factor by which all limits are longer than usual. */
export const PATIENCE = Number(process.env.TEST_PATIENCE ?? 1)

/** A state that a test awaits (`expect.poll`, `vi.waitFor`, `eventually`) must exist within this time. */
export const POLL_WITHIN_MS = 20_000 * PATIENCE

/** The time limit of one test, and of one hook. */
export const TEST_WITHIN_MS = 60_000 * PATIENCE
