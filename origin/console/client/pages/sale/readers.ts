/** Tells which text the visitors of a sale read: their languages, and the text that each of them gets. Pure. */
import { LANGUAGES, type Language } from '../../../../../shared/api/fields.ts'
import type { SaleViews } from '../../../../../shared/api/operators/views.ts'

type Row = Pick<SaleViews['rows'][number], 'key' | 'uniques' | 'counted'>
export type Readers = readonly (readonly [language: string, people: number])[]

const isOurs = (language: string): language is Language => (LANGUAGES as readonly string[]).includes(language)

/** The people by language, the most first. While people are not counted, these are views. */
export const readersOf = (rows: readonly Row[]): Readers =>
  rows
    .map(({ key, uniques, counted }) => [key, uniques ?? counted] as const)
    .filter(([, people]) => people > 0)
    .toSorted(([, a], [, b]) => b - a)

/** The language that most visitors read and that the pages have. */
export const mainLanguage = (readers: Readers): Language =>
  readers.flatMap(([language]) => (isOurs(language) ? [language] : []))[0] ?? 'en'

/** The language in which visitors of each language read these texts, as the pages choose it. */
function readIn(language: string, written: readonly string[]): string | undefined {
  return [language, 'en', ...LANGUAGES, ...written].find((one) => written.includes(one))
}

interface Reading {
  readonly language: string
  /** True for those whose own language is not written. */
  readonly forWant: boolean
  readonly people: number
}

/** How many people read which text, the most first. Nobody reads anything while nothing is written. */
export function readings(readers: Readers, written: readonly string[]): readonly Reading[] {
  const found = new Map<string, Reading>()
  for (const [own, people] of readers) {
    const language = readIn(own, written)
    if (language === undefined) continue
    const forWant = own !== language
    const key = `${language} ${forWant}`
    found.set(key, { language, forWant, people: people + (found.get(key)?.people ?? 0) })
  }
  return [...found.values()].toSorted((a, b) => b.people - a.people)
}
