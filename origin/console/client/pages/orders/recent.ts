/** The operator's own latest searches, stored only in this browser. */
import { session } from '../../session.ts'

const KEPT = 8
const key = () => {
  const operator = session.value
  return `console.searches.${operator !== null && operator !== 'unknown' ? operator.name : ''}`
}

export function recentSearches(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key()) ?? '[]')
    return Array.isArray(kept) ? kept.filter((one): one is string => typeof one === 'string').slice(0, KEPT) : []
  } catch {
    return []
  }
}

export function keepSearch(text: string): void {
  const searched = text.trim()
  if (searched === '') return
  const kept = [searched, ...recentSearches().filter((one) => one !== searched)].slice(0, KEPT)
  try {
    localStorage.setItem(key(), JSON.stringify(kept))
  } catch {
    // A browser that blocks storage has no recent searches.
  }
}

export const forgetSearches = () => localStorage.removeItem(key())
