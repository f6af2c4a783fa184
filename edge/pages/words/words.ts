/** The pages' languages, a catalogue each. A new language is a new catalogue and a line here; the type names missing words. */
import { ar } from './ar.ts'
import { de } from './de.ts'
import { en, type Words } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { ja } from './ja.ts'

export const WORDS = { en, de, fr, es, ja, ar } satisfies Record<string, Words>
export type { Words }
export type Language = keyof typeof WORDS
export const LANGUAGES = Object.keys(WORDS) as Language[]

/** For `dir` of a document. */
export const directionOf = (lang: Language) => (lang === 'ar' ? 'rtl' : 'ltr')
