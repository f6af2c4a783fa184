/** The work behind the responses to a file's tests (`waitUntil`), as far as it is under way. */
export const background = new Set<Promise<unknown>>()

export function waitUntil(work: Promise<unknown>): void {
  background.add(work)
  void work.finally(() => background.delete(work))
}
