/** Rows that only goods need: lists with commas, and texts by language. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { LANGUAGES, type Language } from '../../../../../shared/api/fields.ts'
import { languageName } from '../../format.ts'
import { Segmented } from '../../sheet/controls.tsx'
import { type Body, type Json, valueAt } from '../sale-form/draft.ts'
import { Framed, type Named, Row, useField } from '../sale-form/fields/form.tsx'
import { InputRow } from '../sale-form/fields/rows.tsx'
import { valuesIn } from './variants.ts'

interface ListProps extends Named {
  /** The meaning of an empty list, which is omitted from the body. */
  readonly none?: string
  readonly upperCase?: boolean
}

/** The input of a list that is written with commas, and the error in one of its entries. */
export function useList({ path, note, none, upperCase = false }: Omit<ListProps, 'label'>) {
  const { form, value, attributes, level, note: said } = useField({ path, note })
  const typed = useSignal<string | null>(null)
  const list = (value ?? []) as readonly string[]
  const read = (text: string) => valuesIn(upperCase ? text.toUpperCase() : text)
  const isTyped = typed.value !== null && JSON.stringify(read(typed.value)) === JSON.stringify(list)
  const inside = [...form.wrong].find(([field]) => field.startsWith(`${path}.`))
  const input = {
    ...attributes,
    'aria-invalid': attributes['aria-invalid'] || inside !== undefined,
    value: isTyped ? (typed.value ?? '') : list.join(', '),
    placeholder: none,
    autocomplete: 'off',
    onInput: ({ currentTarget: { value: text } }: { readonly currentTarget: { readonly value: string } }) => {
      typed.value = text
      const values = read(text)
      form.set(path, values.length === 0 && none !== undefined ? undefined : values)
    },
  } as const
  return { input, level: inside ? ('is-bad' as const) : level, note: inside ? inside[1] : said }
}

export const ListRow = ({ label, ...named }: ListProps) => <InputRow label={label} field={useList(named)} />

/** A plain text counts as the English one. */
const textsOf = (value: Json | undefined): Body => (typeof value === 'string' ? { en: value } : ((value ?? {}) as Body))

interface MarkdownProps {
  readonly path: string
  readonly label: string
  readonly note?: ComponentChildren
  readonly rows?: number
}

/** A field for markdown, one language at a time. It says which languages are written. */
export function MarkdownRow({ path, label, note, rows = 3 }: MarkdownProps) {
  const language = useSignal<Language>('en')
  const { form, attributes, level, note: said } = useField({ path, note })
  const texts = textsOf(valueAt(form.body, path))
  const fault = form.wrong.get(path) ?? form.wrong.get(`${path}.${language.value}`)
  const write = (text: string) => {
    const { [language.value]: _, ...others } = texts
    const next = text === '' ? others : { ...others, [language.value]: text }
    form.set(path, Object.keys(next).length > 0 ? next : null)
  }
  const written = LANGUAGES.filter((one) => texts[one] !== undefined).map((one) => one.toUpperCase())
  const isBad = fault !== undefined
  return (
    <Row label={label} id={attributes.id} level={isBad ? 'is-bad' : level} note={isBad ? fault : said}>
      <Framed level={isBad ? 'is-bad' : level}>
        <textarea
          {...attributes}
          rows={rows}
          lang={language.value}
          dir="auto"
          value={String(texts[language.value] ?? '')}
          aria-invalid={isBad}
          onInput={({ currentTarget }) => write(currentTarget.value)}
        />
      </Framed>
      <div class="row">
        <Segmented
          label={`Language of ${label.toLowerCase()}`}
          value={language.value}
          options={LANGUAGES.map((one) => [one, one.toUpperCase(), languageName(one)] as const)}
          onChoose={(one) => (language.value = one)}
        />
        <span class="note">{written.length === 0 ? 'None is written.' : `${written.join(', ')} written.`}</span>
      </div>
    </Row>
  )
}
