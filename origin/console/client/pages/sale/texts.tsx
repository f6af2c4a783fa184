/** Texts that visitors read: one field first, those for other languages folded, and who reads which of them. */
import { useQuery } from '@tanstack/preact-query'
import { LANGUAGES, type Language } from '../../../../../shared/api/fields.ts'
import { admin, read } from '../../api.ts'
import { languageName, textIn } from '../../format.ts'
import { type Readers, readersOf } from './readers.ts'

/** The texts of a form by language, without empty ones. */
export function textsIn(form: FormData): Record<string, string> {
  const texts = LANGUAGES.map((language) => [language, textIn(form, language)] as const)
  return Object.fromEntries(texts.filter(([, text]) => text !== ''))
}

/** The people who have looked at a sale's pages by their language, the most first; empty while nobody knows. */
export function useReaders(sale: string): Readers {
  const { data } = useQuery({
    queryKey: ['views', sale, 'language'],
    queryFn: () => read(admin.sales[':sale'].views.$get({ param: { sale }, query: { by: 'language' } })),
  })
  return readersOf(data?.rows ?? [])
}

/** The fields for the level and the texts of an announcement. */
export function AnnouncementFields() {
  return (
    <>
      <label>
        Level
        <select name="level">
          <option value="info">For information</option>
          <option value="warning">Warning</option>
        </select>
      </label>
      <Texts legend="Text" />
    </>
  )
}

interface TextsProps {
  readonly legend: string
  /** The language that is asked for first. */
  readonly main?: Language
  readonly texts?: Readonly<Partial<Record<string, string>>> | undefined
}

/** The field of the main language is in sight. A language without a text of its own reads that one. */
export function Texts({ legend, main = 'en', texts = {} }: TextsProps) {
  const others = LANGUAGES.filter((language) => language !== main)
  const field = (language: Language, rows: number) => (
    <label key={language} class="label">
      {languageName(language)}
      <span class="field">
        <textarea
          name={language}
          lang={language}
          dir="auto"
          rows={rows}
          maxLength={500}
          defaultValue={texts[language] ?? ''}
        />
      </span>
    </label>
  )
  return (
    <fieldset class="texts">
      <legend class="small quiet">{legend}</legend>
      {field(main, 3)}
      <details class="small" open={others.some((language) => texts[language] !== undefined)}>
        <summary>Other languages: those left empty show {languageName(main)}</summary>
        <div class="stack close">{others.map((language) => field(language, 2))}</div>
      </details>
    </fieldset>
  )
}
