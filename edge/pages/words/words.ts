/**
 * The pages' texts: a catalogue for each language, as JSON for those who translate. `{n}` and the like are filled in; numbers,
 * money and durations come from Intl. A new language is a new catalogue and a line here; the type names missing words.
 */
import type { Plural } from '../../../shared/format.ts'
import ar from './ar.json' with { type: 'json' }
import de from './de.json' with { type: 'json' }
import en from './en.json' with { type: 'json' }
import es from './es.json' with { type: 'json' }
import fr from './fr.json' with { type: 'json' }
import ja from './ja.json' with { type: 'json' }

/** Texts with plural forms, of which a language may have others. */
type Counted = 'ahead' | 'attemptsLeft'
/** The shape of the English catalogue, with `Pair` for a title and its text. */
type Shape<T, Pair> = T extends string
  ? string
  : T extends readonly string[]
    ? Pair
    : { readonly [Key in keyof T]: Shape<T[Key], Pair> }
type Catalogue<Pair> = Omit<Shape<typeof en, Pair>, Counted> & { readonly [Key in Counted]: Plural }

export type Words = Catalogue<readonly [title: string, text: string]>

/** JSON has no pairs: a test counts the texts of each list. */
const catalogues = { en, de, fr, es, ja, ar } satisfies Record<string, Catalogue<readonly string[]>>
export type Language = keyof typeof catalogues
export const WORDS = catalogues as unknown as Readonly<Record<Language, Words>>
/** As their speakers write them. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  ja: '日本語',
  ar: 'العربية',
}
export const LANGUAGES = Object.keys(WORDS) as Language[]

/** For `dir` of a document. */
export const directionOf = (lang: Language) => (lang === 'ar' ? 'rtl' : 'ltr')
