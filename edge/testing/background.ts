/** The pending work behind the responses to a file's tests (`waitUntil`). */
export const background = new Set<Promise<unknown>>()

export function waitUntil(work: Promise<unknown>): void {
  background.add(work)
  void work.finally(() => background.delete(work))
}
