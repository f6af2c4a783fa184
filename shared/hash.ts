/** A 32-bit hash of a text (FNV-1a by Fowler, Noll and Vo, over UTF-16 code units): spreads names over shards. Not secret. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
