/** The rows of the form: a label, a control, and what the value does. */
import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'
import { LANGUAGES } from '../../../../../../shared/api/fields.ts'
import { money } from '../../../../../../shared/format.ts'
import { languageName } from '../../../format.ts'
import { Segmented } from '../../../sheet/controls.tsx'
import { Icon } from '../../../sheet/icon.tsx'
import { type Body, type Json, valueAt } from '../draft.ts'
import { Framed, type Level, type Named, Row, useField, useForm, useState } from './form.tsx'
import { useMoney, useNumber, useText, useTime } from './inputs.ts'

interface TextProps extends Named {
  readonly list?: string
  /** The number of lines of a multi-line text. */
  readonly rows?: number
  readonly isShort?: boolean
  readonly placeholder?: string
  /** Called instead of writing the text to the path. */
  readonly onText?: (text: string) => void
}

interface InputRowProps {
  readonly label: ComponentChildren
  /** The input, as the hooks of inputs.ts make it. */
  readonly field: {
    readonly input: JSX.InputHTMLAttributes<HTMLInputElement> & { readonly id: string }
    readonly level: Level
    readonly note: ComponentChildren
  }
  readonly isShort?: boolean
  readonly before?: ComponentChildren
  readonly unit?: ComponentChildren
}

/** A row with one input. */
export const InputRow = ({ label, field: { input, level, note }, ...frame }: InputRowProps) => (
  <Row label={label} id={input.id} level={level} note={note}>
    <Framed level={level} {...frame}>
      <input {...input} />
    </Framed>
  </Row>
)

export function TextRow({ label, list, rows, isShort = false, placeholder, onText, ...named }: TextProps) {
  const { input, level, note } = useText(named, onText)
  return (
    <Row label={label} id={input.id} level={level} note={note}>
      <Framed level={level} isShort={isShort}>
        {rows ? (
          <textarea {...input} rows={rows} placeholder={placeholder} />
        ) : (
          <input {...input} list={list} placeholder={placeholder} />
        )}
      </Framed>
    </Row>
  )
}

export const NumberRow = ({ label, unit, ...named }: Named & { readonly unit?: string; readonly none?: string }) => (
  <InputRow label={label} field={useNumber(named)} isShort unit={unit} />
)

/** The sign of a currency, such as €. */
export const signOf = (currency: string) =>
  /^[A-Z]{3}$/.test(currency) ? money('en', 0, currency).replaceAll(/[\d.,\s]/g, '') : ''

export const MoneyRow = ({ label, ...named }: Named & { readonly currency: string; readonly none?: string }) => (
  <InputRow label={label} field={useMoney(named)} isShort before={signOf(named.currency)} />
)

export const TimeRow = ({ label, ...named }: Named & { readonly none?: string; readonly zone?: string }) => (
  <InputRow label={label} field={useTime(named)} />
)

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone')]

/** The name of a time zone. */
export function ZoneRow(named: Named) {
  const list = useId()
  return (
    <>
      <TextRow {...named} list={list} />
      <datalist id={list}>
        {ZONES.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  )
}

/** What is fixed, and why. */
export const FixedRow = ({
  label,
  value,
  why,
}: {
  readonly label: string
  readonly value: ComponentChildren
  readonly why: string
}) => (
  <Row label={label}>
    <p class="row">
      {value}
      <span class="note">
        <Icon name="lock" />
        {why}
      </span>
    </p>
  </Row>
)

interface ChoiceProps extends Named {
  readonly options: readonly (readonly [value: Json, text: string])[]
  /** What belongs to the choice, such as an amount. */
  readonly children?: ComponentChildren
}

/** A choice among a few, all of them in sight. */
export function SegmentRow({ label, options, children, ...named }: ChoiceProps) {
  const { form, value, level, note } = useField(named)
  return (
    <Row label={label} level={level} note={note}>
      <Segmented
        label={label}
        value={JSON.stringify(value ?? null)}
        options={options.map(([option, text]) => [JSON.stringify(option), text] as const)}
        onChoose={(chosen) => form.set(named.path, JSON.parse(chosen))}
      />
      {children}
    </Row>
  )
}

/** A choice whose values may also be numbers or null. */
export function SelectRow({ label, options, children, ...named }: ChoiceProps) {
  const { form, value, level, note, attributes } = useField(named)
  return (
    <Row label={label} id={attributes.id} level={level} note={note}>
      <Framed level={level}>
        <select
          {...attributes}
          value={JSON.stringify(value ?? null)}
          onChange={({ currentTarget }) => {
            const chosen: Json = JSON.parse(currentTarget.value)
            form.set(named.path, chosen === null && named.optional ? undefined : chosen)
          }}
        >
          {options.map(([option, text]) => (
            <option key={text} value={JSON.stringify(option)}>
              {text}
            </option>
          ))}
        </select>
      </Framed>
      {children}
    </Row>
  )
}

interface SwitchProps extends Named {
  /** What the switch does, beside it. */
  readonly text: string
  /** The state of a switch that does not write the field's own true or false. */
  readonly isOn?: boolean
  readonly children?: ComponentChildren
  onTurn?(isOn: boolean): void
}

export function SwitchRow({ label, text, isOn, children, onTurn, ...named }: SwitchProps) {
  const { form, value, level, note } = useField(named)
  return (
    <Row label={label} level={level} note={note}>
      <label class="row switched">
        <input
          type="checkbox"
          class="switch"
          name={named.path}
          checked={isOn ?? value === true}
          onChange={({ currentTarget: { checked } }) => (onTurn ? onTurn(checked) : form.set(named.path, checked))}
        />
        {text}
      </label>
      {children}
    </Row>
  )
}

interface LanguagesProps {
  readonly path: string
  /** What is translated, for screen readers. */
  readonly label: string
  readonly summary?: string
}

/** A text in some of the visitors' languages, folded; null means no text. */
export function OtherLanguages({ path, label, summary = 'In other languages' }: LanguagesProps) {
  const { body, wrong, set, touch } = useForm()
  const { level } = useState({ path })
  const texts = (valueAt(body, path) ?? {}) as Body
  const write = (language: string, text: string) => {
    const { [language]: _, ...others } = texts
    const next = text === '' ? others : { ...others, [language]: text }
    set(path, Object.keys(next).length > 0 ? next : null)
  }
  const many = Object.keys(texts).length
  return (
    <details
      class={`small ${level}`}
      open={[...wrong.keys()].some((field) => field.startsWith(`${path}.`)) || undefined}
    >
      <summary>
        {summary}: {many} of {LANGUAGES.length}
      </summary>
      <div class="stack languages">
        {LANGUAGES.map((language) => {
          const fault = wrong.get(`${path}.${language}`)
          return (
            <label key={language} class="label">
              <span>
                {languageName(language)}
                <span class="unseen">, {label.toLowerCase()}</span>
              </span>
              <span class={fault === undefined ? 'field' : 'field is-bad'}>
                <input
                  name={`${path}.${language}`}
                  lang={language}
                  dir="auto"
                  value={String(texts[language] ?? '')}
                  placeholder="as above"
                  aria-invalid={fault !== undefined}
                  autocomplete="off"
                  onBlur={() => touch(`${path}.${language}`)}
                  onInput={(event) => write(language, event.currentTarget.value)}
                />
              </span>
              {fault !== undefined && <small class="note is-bad">{fault}</small>}
            </label>
          )
        })}
      </div>
    </details>
  )
}
