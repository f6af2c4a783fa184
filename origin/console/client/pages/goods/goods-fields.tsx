/** Fields that goods need beside those of every form: lists, texts by language, groups that fold, rows that come and go. */
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
  /** What an empty list means, which is left out then. */
  readonly none?: string
  /** In place of writing it to the path. */
  readonly onList?: (values: readonly string[]) => void
  readonly upperCase?: boolean
}

/** A list as a person writes it, with commas. What is wrong in one of its entries is said beside it. */
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

/** A text is the English one where nothing else is said. */
const textsOf = (value: Json | undefined): Body => (typeof value === 'string' ? { en: value } : ((value ?? {}) as Body))

/** Markdown, one language at a time; those that have a text are marked. */
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
    <div class="field markdown">
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
  /** Of one row, for its legend and its button: "Fee". */
  readonly of: string
  readonly add: string
  readonly empty: Body
  /** How many there may be. */
  readonly most?: number
  /** An empty list is left out. */
  readonly optional?: boolean
  readonly nameOf?: (row: Body) => Json | undefined
  /** In place of writing them to the path. */
  readonly onRows?: (rows: readonly Body[]) => void
  readonly children: (path: string, row: Body) => ComponentChildren
}

/** A list of objects: each a group of fields, with a way to remove it and one to add another. */
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
