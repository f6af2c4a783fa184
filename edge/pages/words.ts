/**
 * The pages' languages: a catalogue each, in words/. A new language is a new catalogue and a line here; the type says
 * which words are missing.
 */
import type { Plural } from '../../shared/speak.ts'
import { de } from './words/de.ts'
import { en } from './words/en.ts'

/** The shape of the English catalogue, with any words in it. */
type Translated<T> = T extends string
  ? string
  : T extends Plural
    ? Plural
    : { readonly [key in keyof T]: Translated<T[key]> }

export type Words = Translated<typeof en>

const CATALOGUES: ReadonlyMap<string, Words> = new Map<string, Words>([
  ['en', en],
  ['de', de],
])
export const LANGUAGES: readonly string[] = [...CATALOGUES.keys()]

/** The catalogue of a language; English where there is none. */
export function wordsFor(language: string): { readonly lang: string; readonly words: Words } {
  const words = CATALOGUES.get(language)
  return words ? { lang: language, words } : { lang: 'en', words: en }
}
