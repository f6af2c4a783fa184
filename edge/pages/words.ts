/** The pages' languages, a catalogue each. A new language is a new catalogue and a line here; the type names missing words. */
import type { Plural } from '../../shared/format.ts'
import { de } from './words/de.ts'
import { en } from './words/en.ts'

/** The shape of the English catalogue, with any words. */
type Translated<T> = T extends string
  ? string
  : T extends Plural
    ? Plural
    : { readonly [key in keyof T]: Translated<T[key]> }

export type Words = Translated<typeof en>

export const WORDS = { en, de } satisfies Record<string, Words>
export type Language = keyof typeof WORDS
export const LANGUAGES = Object.keys(WORDS) as Language[]
