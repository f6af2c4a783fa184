/** The pages' languages, a catalogue each. A new language is a new catalogue and a line here; the type names missing words. */
import { de } from './words/de.ts'
import { en, type Words } from './words/en.ts'

export const WORDS = { en, de } satisfies Record<string, Words>
export type { Words }
export type Language = keyof typeof WORDS
export const LANGUAGES = Object.keys(WORDS) as Language[]
