/**
 * The pages' texts: a catalogue for each language, as JSON for translators. Values such as `{n}` are filled in;
 * numbers, money and durations are formatted by Intl. A new language needs a new catalogue and a line here, and the
 * type names missing words.
 */
import type { Plural } from '../../../shared/format.ts'
import ar from './ar.json' with { type: 'json' }
import de from './de.json' with { type: 'json' }
import en from './en.json' with { type: 'json' }
import es from './es.json' with { type: 'json' }
import fr from './fr.json' with { type: 'json' }
import ja from './ja.json' with { type: 'json' }

/** Texts with plural forms, which differ between languages. */
type Counted = 'ahead' | 'attemptsLeft' | 'inDays'
/** The structure of the English catalogue, with `Pair` for a title and its text. */
type Shape<T, Pair> = T extends string
  ? string
  : T extends readonly string[]
    ? Pair
    : { readonly [Key in keyof T]: Shape<T[Key], Pair> }
type Catalogue<Pair> = Omit<Shape<typeof en, Pair>, Counted> & { readonly [Key in Counted]: Plural }

export type Words = Catalogue<readonly [title: string, text: string]>

/** JSON has no pairs, so a test counts the texts of each list. */
const catalogues = { en, de, fr, es, ja, ar } satisfies Record<string, Catalogue<readonly string[]>>
export type Language = keyof typeof catalogues
export const WORDS = catalogues as unknown as Readonly<Record<Language, Words>>
/** The names of the languages in those languages. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  ja: '日本語',
  ar: 'العربية',
}
export const LANGUAGES = Object.keys(WORDS) as Language[]

/** The value of a document's `dir`. */
export const directionOf = (lang: Language) => (lang === 'ar' ? 'rtl' : 'ltr')
