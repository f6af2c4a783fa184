/**
 * Form fields that only goods need: lists, texts by language, folding groups, and rows that can be added and removed.
 */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { LANGUAGES } from '../../../../../shared/api/fields.ts'
import { Choose, languageName } from '../../parts.tsx'
import { type Body, type Json, valueAt } from '../sale-form/draft.ts'
import { Field, useField, useForm } from '../sale-form/fields.tsx'
import { valuesIn } from './variants.ts'

interface Labelled {
  readonly path: string
  readonly label: string
  readonly hint?: ComponentChildren
}

interface ListProps extends Labelled {
  /** The meaning of an empty list, which is omitted from the body. */
  readonly none?: string
  /** Called instead of writing the list to the path. */
  readonly onList?: (values: readonly string[]) => void
  readonly upperCase?: boolean
}

/** A list that is written with commas. An error in one of its entries is shown next to it. */
export function ListField({ path, label, hint, none, onList, upperCase = false }: ListProps) {
  const { form, value, attributes, below } = useField({ path, label, hint })
  const typed = useSignal<string | null>(null)
  const list = (value ?? []) as readonly string[]
  const read = (text: string) => valuesIn(upperCase ? text.toUpperCase() : text)
  const isTyped = typed.value !== null && JSON.stringify(read(typed.value)) === JSON.stringify(list)
  const inside = [...form.wrong].find(([field]) => field.startsWith(`${path}.`))
  const write = (values: readonly string[]) =>
    onList ? onList(values) : form.set(path, values.length === 0 && none !== undefined ? undefined : values)
  return (
    <Field id={attributes.id} label={label} below={below}>
      <input
        {...attributes}
        aria-invalid={attributes['aria-invalid'] || inside !== undefined}
        value={isTyped ? (typed.value ?? '') : list.join(', ')}
        placeholder={none}
        autocomplete="off"
        onInput={({ currentTarget: { value: text } }) => {
          typed.value = text
          write(read(text))
        }}
      />
      {inside && <small class="wrong">{inside[1]}</small>}
    </Field>
  )
}

/** A plain text counts as the English one. */
const textsOf = (value: Json | undefined): Body => (typeof value === 'string' ? { en: value } : ((value ?? {}) as Body))

/** A field for markdown, one language at a time. Languages that have a text are marked. */
export function MarkdownField({ path, label, hint, rows = 6 }: Labelled & { readonly rows?: number }) {
  const { body, wrong, set, touch } = useForm()
  const language = useSignal('en')
  const id = useId()
  const texts = textsOf(valueAt(body, path))
  const fault = wrong.get(path) ?? wrong.get(`${path}.${language.value}`)
  const write = (text: string) => {
    const { [language.value]: _, ...others } = texts
    const next = text === '' ? others : { ...others, [language.value]: text }
    set(path, Object.keys(next).length > 0 ? next : null)
  }
  return (
    <div class="form-field markdown">
      <div class="card-head">
        <label for={id}>{label}</label>
        <Choose
          label={<span class="unseen">Language of {label.toLowerCase()}</span>}
          value={language.value}
          options={LANGUAGES.map((one) => [one, `${languageName(one)}${texts[one] === undefined ? '' : ' ✓'}`])}
          onChoose={(one) => (language.value = one)}
        />
      </div>
      <textarea
        id={id}
        name={path}
        rows={rows}
        lang={language.value}
        dir="auto"
        value={String(texts[language.value] ?? '')}
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-hint`}
        onBlur={() => touch(path)}
        onInput={({ currentTarget }) => write(currentTarget.value)}
      />
      <small id={`${id}-hint`} class={fault === undefined ? 'quiet' : 'wrong'}>
        {fault ?? hint}
      </small>
    </div>
  )
}

interface RowsProps {
  readonly path: string
  /** The name of one row in its legend and its button, for example "Fee". */
  readonly of: string
  readonly add: string
  readonly empty: Body
  /** The maximum number of rows. */
  readonly most?: number
  /** True if an empty list is omitted from the body. */
  readonly optional?: boolean
  readonly nameOf?: (row: Body) => Json | undefined
  /** Called instead of writing the rows to the path. */
  readonly onRows?: (rows: readonly Body[]) => void
  readonly children: (path: string, row: Body) => ComponentChildren
}

/** A list of objects. Each is a group of fields with a button to remove it, and one button adds another. */
export function Rows({
  path,
  of,
  add,
  empty,
  most = Number.POSITIVE_INFINITY,
  optional,
  nameOf,
  onRows,
  children,
}: RowsProps) {
  const { body, wrong, set } = useForm()
  const rows = (valueAt(body, path) ?? []) as readonly Body[]
  const write = onRows ?? ((next: readonly Body[]) => set(path, optional && next.length === 0 ? undefined : next))
  return (
    <>
      {rows.map((row, i) => {
        const name = String(nameOf?.(row) || `${of} ${i + 1}`)
        return (
          <fieldset key={i} class="group">
            <legend>{name}</legend>
            {children(`${path}.${i}`, row)}
            <button type="button" class="link" onClick={() => write(rows.filter((one) => one !== row))}>
              Remove {name}
            </button>
          </fieldset>
        )
      })}
      {wrong.has(path) && <small class="wrong">{wrong.get(path)}</small>}
      {rows.length < most && (
        <p>
          <button type="button" onClick={() => write([...rows, empty])}>
            {add}
          </button>
        </p>
      )}
    </>
  )
}
