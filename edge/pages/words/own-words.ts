/**
 * Replaces texts of the catalogues by a shop's own, which are checked when they are read, because a text for an
 * unknown name would never be shown.
 */
import { type Language, WORDS, type Words } from './words.ts'

type Catalogues = Readonly<Record<Language, Words>>

/**
 * The catalogues with a shop's own words. `wrong` lists the texts whose name does not exist, or that have other
 * `{values}`.
 */
export function withOwnWords(
  own: unknown,
  ours: Catalogues = WORDS,
): { readonly words: Catalogues; readonly wrong: readonly string[] } {
  const wrong: string[] = []
  const words = over<Catalogues>(ours, own, [], wrong)
  return { words, wrong }
}

/** Catalogues are texts by name, with nesting; a title with its text is a list. */
function over<T>(ours: T, own: unknown, at: readonly string[], wrong: string[]): T {
  const refuse = (path: readonly string[]) => {
    wrong.push(path.join('.') || 'the whole')
    return ours
  }
  if (typeof ours === 'string') return typeof own === 'string' && fits(own, ours) ? (own as T) : refuse(at)
  if (typeof own !== 'object' || own === null) return refuse(at)
  const known = new Map<string, unknown>(Object.entries(ours as object))
  const merged = Array.isArray(ours) ? [...ours] : { ...ours }
  for (const [name, text] of Object.entries(own)) {
    const path = [...at, name]
    if (known.has(name)) Object.assign(merged as object, { [name]: over(known.get(name), text, path, wrong) })
    else refuse(path)
  }
  return merged as T
}

/** True for a text that is not empty and contains only values that the page fills in. */
function fits(own: string, ours: string): boolean {
  return own.trim() !== '' && (own.match(/\{\w{1,40}\}/g) ?? []).every((value) => ours.includes(value))
}
