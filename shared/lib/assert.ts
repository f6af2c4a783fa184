/**
 * Assertions: a state that cannot be ends the call that met it. The http edge of either half answers with a 500
 * problem, and whoever watches is informed of every failure, even if a caller catches the error.
 */

/** The error of a state that cannot be. Its message has no ids and no persons, so that equal failures are equal. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

type Watch = (error: AssertionError) => void

const watches = new Set<Watch>()

/** Calls `watch` for every assertion that fails in this process or isolate. Returns the function that ends it. */
export function watchAssertions(watch: Watch): () => void {
  watches.add(watch)
  return () => void watches.delete(watch)
}

/** Throws an AssertionError with this sentence unless the condition is true. */
export function assert(condition: unknown, sentence: string): asserts condition {
  if (condition) return
  const error = new AssertionError(sentence)
  for (const watch of watches) watch(error)
  throw error
}

/** Returns a value that must exist, and throws an AssertionError with this sentence if it does not. */
export function assertExists<T>(value: T, sentence: string): NonNullable<T> {
  assert(value !== undefined && value !== null, sentence)
  return value as NonNullable<T>
}
