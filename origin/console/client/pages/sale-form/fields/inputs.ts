/** What inputs show and write: texts, numbers, amounts and times of a sale. */
import { useSignal } from '@preact/signals'
import { decimal, minorOf } from '../../../../../../shared/format.ts'
import { instantOf, localOf, ZONE } from '../../../local-time.ts'
import { type Json, valueAt } from '../draft.ts'
import { type Named, useField, useForm } from './form.tsx'

type Asked = Pick<Named, 'path' | 'note' | 'optional'>
interface Event {
  readonly currentTarget: { readonly value: string }
}

export function useText(named: Asked, onText?: (text: string) => void) {
  const { form, value, attributes, ...state } = useField(named)
  const write = (text: string) => form.set(named.path, text === '' && named.optional ? undefined : text)
  const input = {
    ...attributes,
    value: String(value ?? ''),
    autocomplete: 'off',
    onInput: ({ currentTarget }: Event) => (onText ?? write)(currentTarget.value),
  } as const
  return { input, ...state }
}

/** Converts the typed text to a number. Other text is sent unchanged, and the API refuses it with an explanation. */
export const numberOf = (text: string): Json => {
  const plain = text.replaceAll(/(?<=\d),(?=\d{3}(\D|$))/g, '').trim()
  return plain === '' || Number.isNaN(Number(plain)) ? text : Number(plain)
}

/** `none` is the meaning of an empty field, if the value may be null. */
export function useNumber(named: Asked & { readonly none?: string | undefined }) {
  const { form, value, attributes, ...state } = useField(named)
  const typed = useSignal<string | null>(null)
  // The field shows a value that was changed elsewhere, but keeps an incomplete input such as "1.".
  const shown = typed.value !== null && numberOf(typed.value) === value ? typed.value : String(value ?? '')
  const input = {
    ...attributes,
    value: shown,
    inputMode: 'decimal',
    autocomplete: 'off',
    placeholder: named.none,
    onInput: ({ currentTarget: { value: text } }: Event) => {
      typed.value = text
      if (text === '' && named.optional) form.set(named.path, undefined)
      else form.set(named.path, text === '' && named.none !== undefined ? null : numberOf(text))
    },
  } as const
  return { input, ...state }
}

/** `none` is the meaning of an empty field. */
export function useMoney(named: Asked & { readonly currency: string; readonly none?: string | undefined }) {
  const { form, value, attributes, ...state } = useField(named)
  const typed = useSignal<{ readonly text: string; readonly currency: string } | null>(null)
  const { currency } = named
  const read = (text: string) => minorOf(text, currency) ?? text
  const isTyped = typed.value !== null && (typed.value.currency !== currency || read(typed.value.text) === value)
  const shown = typeof value === 'number' ? decimal(value, currency) : String(value ?? '')
  const input = {
    ...attributes,
    value: isTyped ? (typed.value?.text ?? '') : shown,
    inputMode: 'decimal',
    autocomplete: 'off',
    placeholder: named.none ?? decimal(4200, currency),
    onInput: ({ currentTarget: { value: text } }: Event) => {
      typed.value = { text, currency }
      form.set(named.path, text === '' && named.optional ? undefined : read(text))
    },
  } as const
  return { input, ...state }
}

/** A time by the operator's clock, or by the clock of another time zone. `none` is the meaning of an empty field. */
export function useTime({ zone = ZONE, ...named }: Asked & { readonly none?: string; readonly zone?: string }) {
  const iso = valueAt(useForm().body, named.path)
  const skipped = useSignal<{ readonly text: string; readonly why: string } | null>(null)
  const isTime = typeof iso === 'string' && !Number.isNaN(Date.parse(iso))
  const said = isTime ? `${zone}; ${localOf(iso, 'UTC').replace('T', ' ')} UTC` : (skipped.value?.why ?? named.none)
  const { form, attributes, value: _, ...state } = useField({ ...named, note: said })
  const read = (text: string) => {
    skipped.value = null
    if (text === '') return form.set(named.path, named.none === undefined ? '' : null)
    try {
      form.set(named.path, instantOf(text, null, zone))
    } catch (error) {
      skipped.value = { text, why: (error as Error).message }
      form.set(named.path, '')
    }
  }
  const input = {
    ...attributes,
    type: 'datetime-local',
    step: '1',
    value: isTime ? localOf(iso, zone) : (skipped.value?.text ?? ''),
    onInput: ({ currentTarget }: Event) => read(currentTarget.value),
  } as const
  return { input, ...state }
}
