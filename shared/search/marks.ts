/** Marks the matching parts of a text, and selects the piece of it to show. */
import { fold, wordsOf } from './words.ts'

export interface Part {
  readonly text: string
  readonly isHit: boolean
}

/** Divides a text into parts, which together are the whole text. */
export function partsOf(text: string, { terms, beginnings }: Marked): Part[] {
  const parts: Part[] = []
  let at = 0
  for (const { term, from, to } of wordsOf(text)) {
    const beginning = terms.has(term) ? undefined : beginnings.find((one) => term.startsWith(one))
    if (from < at || (beginning === undefined && !terms.has(term))) continue
    const end = beginning === undefined ? to : from + lengthOf(text.slice(from, to), beginning)
    if (from > at) parts.push({ text: text.slice(at, from), isHit: false })
    parts.push({ text: text.slice(from, end), isHit: true })
    at = end
  }
  if (at < text.length) parts.push({ text: text.slice(at), isHit: false })
  return parts
}

/**
 * The length of a word's beginning as written, given its folded form, because accents and ligatures change the
 * length.
 */
function lengthOf(written: string, beginning: string): number {
  for (let length = 1; length < written.length; length++)
    if (fold(written.slice(0, length)).length >= beginning.length) return length
  return written.length
}

/** The maximum length of a snippet, and the number of characters in it before the first match. */
const SNIPPET = 160
const BEFORE = 40

export function snippetOf(text: string, marked: Marked): string {
  const flat = text.replaceAll('\n', ', ')
  if (flat.length <= SNIPPET) return flat
  const [first] = partsOf(flat, marked)
  const hitAt = first?.isHit === false ? first.text.length : 0
  const start = hitAt === flat.length || hitAt <= BEFORE ? 0 : wordStart(flat, hitAt - BEFORE)
  const end = start + SNIPPET >= flat.length ? flat.length : wordStart(flat, start + SNIPPET)
  return `${start > 0 ? '… ' : ''}${flat.slice(start, end).trim()}${end < flat.length ? ' …' : ''}`.toWellFormed()
}

/** The start of the last word before a place; the place itself in a script without spaces. */
function wordStart(text: string, at: number): number {
  const space = text.lastIndexOf(' ', at)
  return space > at - BEFORE ? space + 1 : at
}

export interface Marked {
  readonly terms: ReadonlySet<string>
  /** The beginnings of longer words, of which only the typed part is marked. */
  readonly beginnings: readonly string[]
}
