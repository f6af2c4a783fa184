/** The fields of the form. Each shows its error once it was edited, and warns of likely mistakes. */
import { useSignal } from '@preact/signals'
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useId } from 'preact/hooks'
import { LANGUAGES } from '../../../../../shared/api/fields.ts'
import { decimal, minorOf } from '../../../../../shared/format.ts'
import { instantOf, localOf, ZONE } from '../../local-time.ts'
import { languageName } from '../../parts.tsx'
import { type Body, type Json, valueAt, type Wrong } from './draft.ts'

interface Form {
  readonly body: Body
  /** The errors and the warnings to show now. */
  readonly wrong: Wrong
  readonly warnings: Wrong
  /** `undefined` removes the field. */
  set(path: string, value: Json | undefined): void
  touch(path: string): void
}

export const FormContext = createContext<Form | null>(null)
export function useForm(): Form {
  const form = useContext(FormContext)
  if (!form) throw new Error('a field stands outside of a form')
  return form
}

interface Named {
  readonly path: string
  readonly label: ComponentChildren
  readonly hint?: ComponentChildren
  readonly disabled?: boolean
  /** True if an empty field is omitted from the body. */
  readonly optional?: boolean
}

/** The properties that all inputs share. */
export function useField({ path, hint }: Named) {
  const form = useForm()
  const id = useId()
  const [wrong, warning] = [form.wrong.get(path), form.warnings.get(path)]
  const has = [hint && `${id}-hint`, wrong ? `${id}-wrong` : warning && `${id}-warning`].filter(Boolean).join(' ')
  const attributes = {
    id,
    name: path,
    'aria-invalid': wrong !== undefined,
    'aria-describedby': has || undefined,
    onBlur: () => form.touch(path),
  } as const
  const below = (
    <>
      {hint && (
        <small id={`${id}-hint`} class="quiet">
          {hint}
        </small>
      )}
      {wrong !== undefined ? (
        <small id={`${id}-wrong`} class="wrong">
          {wrong}
        </small>
      ) : (
        warning !== undefined && (
          <small id={`${id}-warning`} class="warning">
            {warning}
          </small>
        )
      )}
    </>
  )
  return { form, value: valueAt(form.body, path), attributes, below }
}

interface FieldProps {
  readonly id: string
  readonly label: ComponentChildren
  readonly below: ComponentChildren
  readonly children: ComponentChildren
}

export function Field({ id, label, below, children }: FieldProps) {
  return (
    <div class="form-field">
      <label for={id}>{label}</label>
      {children}
      {below}
    </div>
  )
}

interface TextFieldProps extends Named {
  readonly list?: string
  /** The number of lines of a multi-line text. */
  readonly rows?: number
  readonly placeholder?: string
  /** Called instead of writing the text to the path. */
  readonly onText?: (text: string) => void
}

export function TextField(props: TextFieldProps) {
  const { form, value, attributes, below } = useField(props)
  const input = {
    ...attributes,
    value: String(value ?? ''),
    disabled: props.disabled,
    autocomplete: 'off',
    placeholder: props.placeholder,
    onInput: ({ currentTarget: { value: text } }: { readonly currentTarget: { readonly value: string } }) =>
      props.onText ? props.onText(text) : form.set(props.path, text === '' && props.optional ? undefined : text),
  } as const
  return (
    <Field id={attributes.id} label={props.label} below={below}>
      {props.rows ? <textarea {...input} rows={props.rows} /> : <input {...input} list={props.list} />}
    </Field>
  )
}

/** A text in some of the visitors' languages; null means no text. */
export function TextsField({ path, label, hint }: Named) {
  const { body, wrong, set, touch } = useForm()
  const texts = (valueAt(body, path) ?? {}) as Body
  const write = (language: string, text: string) => {
    const { [language]: _, ...others } = texts
    const next = text === '' ? others : { ...others, [language]: text }
    set(path, Object.keys(next).length > 0 ? next : null)
  }
  return (
    <details class="form-field">
      <summary>
        {label}: {Object.values(texts).join(', ') || 'none'}
      </summary>
      {hint && <small class="quiet">{hint}</small>}
      {LANGUAGES.map((language) => (
        <label key={language}>
          {languageName(language)}
          <input
            name={`${path}.${language}`}
            lang={language}
            dir="auto"
            value={String(texts[language] ?? '')}
            aria-invalid={wrong.has(`${path}.${language}`)}
            autocomplete="off"
            onBlur={() => touch(`${path}.${language}`)}
            onInput={(event) => write(language, event.currentTarget.value)}
          />
          {wrong.has(`${path}.${language}`) && <small class="wrong">{wrong.get(`${path}.${language}`)}</small>}
        </label>
      ))}
    </details>
  )
}

/** Converts the typed text to a number. Other text is sent unchanged, and the API refuses it with an explanation. */
const numberOf = (text: string): Json => (text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text))

/** `none` is the meaning of an empty field, if the value may be null. */
export function NumberField(props: Named & { readonly none?: string }) {
  const { form, value, attributes, below } = useField(props)
  const typed = useSignal<string | null>(null)
  // The field shows a value that was changed elsewhere, but keeps an incomplete input such as "1.".
  const shown = typed.value !== null && numberOf(typed.value) === value ? typed.value : String(value ?? '')
  return (
    <Field id={attributes.id} label={props.label} below={below}>
      <input
        {...attributes}
        value={shown}
        disabled={props.disabled}
        inputMode="decimal"
        autocomplete="off"
        placeholder={props.none}
        onInput={({ currentTarget: { value: text } }) => {
          typed.value = text
          if (text === '' && props.optional) form.set(props.path, undefined)
          else form.set(props.path, text === '' && props.none !== undefined ? null : numberOf(text))
        }}
      />
    </Field>
  )
}

/** `none` is the meaning of an empty field. */
export function MoneyField(props: Named & { readonly currency: string; readonly none?: string }) {
  const { form, value, attributes, below } = useField(props)
  const typed = useSignal<{ readonly text: string; readonly currency: string } | null>(null)
  const { currency } = props
  const read = (text: string) => minorOf(text, currency) ?? text
  const isTyped = typed.value !== null && (typed.value.currency !== currency || read(typed.value.text) === value)
  const shown = typeof value === 'number' ? decimal(value, currency) : String(value ?? '')
  const text = isTyped ? (typed.value?.text ?? '') : shown
  return (
    <Field id={attributes.id} label={props.label} below={below}>
      <input
        {...attributes}
        value={text}
        disabled={props.disabled}
        inputMode="decimal"
        autocomplete="off"
        placeholder={props.none ?? decimal(4200, currency)}
        onInput={({ currentTarget: { value: next } }) => {
          typed.value = { text: next, currency }
          form.set(props.path, next === '' && props.optional ? undefined : read(next))
        }}
      />
    </Field>
  )
}

/** A time by the operator's clock, or by the clock of another time zone. */
export function TimeField({ zone = ZONE, ...props }: Named & { readonly none?: string; readonly zone?: string }) {
  const iso = valueAt(useForm().body, props.path)
  const skipped = useSignal<{ readonly text: string; readonly why: string } | null>(null)
  const isTime = typeof iso === 'string' && !Number.isNaN(Date.parse(iso))
  const said = isTime ? `${zone}; ${localOf(iso, 'UTC').replace('T', ' ')} UTC` : (skipped.value?.why ?? props.none)
  const { form, attributes, below } = useField({ ...props, hint: said })
  const read = (text: string) => {
    skipped.value = null
    if (text === '') return form.set(props.path, props.none === undefined ? '' : null)
    try {
      form.set(props.path, instantOf(text, null, zone))
    } catch (error) {
      skipped.value = { text, why: (error as Error).message }
      form.set(props.path, '')
    }
  }
  return (
    <Field id={attributes.id} label={props.label} below={below}>
      <input
        {...attributes}
        type="datetime-local"
        step="1"
        value={isTime ? localOf(iso, zone) : (skipped.value?.text ?? '')}
        disabled={props.disabled}
        onInput={({ currentTarget }) => read(currentTarget.value)}
      />
    </Field>
  )
}

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone')]

/** The name of a time zone. */
export function ZoneField(props: Named) {
  const list = useId()
  return (
    <>
      <TextField {...props} list={list} />
      <datalist id={list}>
        {ZONES.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  )
}

/** A choice whose values may also be numbers or null. */
export function Choice(props: Named & { readonly options: readonly (readonly [value: Json, text: string])[] }) {
  const { form, value, attributes, below } = useField(props)
  return (
    <Field id={attributes.id} label={props.label} below={below}>
      <select
        {...attributes}
        disabled={props.disabled}
        value={JSON.stringify(value ?? null)}
        onChange={({ currentTarget }) => {
          const chosen: Json = JSON.parse(currentTarget.value)
          form.set(props.path, chosen === null && props.optional ? undefined : chosen)
        }}
      >
        {props.options.map(([option, text]) => (
          <option key={text} value={JSON.stringify(option)}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  )
}

export function Check(props: Named) {
  const { form, value, attributes, below } = useField(props)
  return (
    <div class="form-field">
      <label class="check">
        <input
          {...attributes}
          type="checkbox"
          checked={value === true}
          disabled={props.disabled}
          onChange={(event) => form.set(props.path, event.currentTarget.checked)}
        />
        {props.label}
      </label>
      {below}
    </div>
  )
}
