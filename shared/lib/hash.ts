/** A 32-bit hash of a text (FNV-1a over UTF-16 code units). It distributes names evenly, but is not secure. */
export function hashOf(text: string, seed = 0x811c9dc5): number {
  let hash = seed | 0
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
