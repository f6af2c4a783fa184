/** Texts that visitors read: the fields for them in each language, and what a form says. */
import { LANGUAGES } from '../../../../../shared/api/fields.ts'
import { languageName, textIn } from '../../parts.tsx'

/** The texts of a form by language, without empty ones. */
export function textsIn(form: FormData): Record<string, string> {
  const texts = LANGUAGES.map((language) => [language, textIn(form, language)] as const)
  return Object.fromEntries(texts.filter(([, text]) => text !== ''))
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
      <Texts legend="Text, in one language or more" />
    </>
  )
}

export function Texts({ legend }: { readonly legend: string }) {
  return (
    <fieldset class="texts">
      <legend>{legend}</legend>
      {LANGUAGES.map((language) => (
        <label key={language}>
          {languageName(language)}
          <textarea name={language} lang={language} dir="auto" rows={2} maxLength={500} />
        </label>
      ))}
    </fieldset>
  )
}
