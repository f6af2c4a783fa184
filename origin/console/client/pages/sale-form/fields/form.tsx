/** The form around the fields, and the state of each: wrong, to decide, changed, or as it was. */

import { type ComponentChildren, createContext } from 'preact'
import { useContext, useId } from 'preact/hooks'
import { capital } from '../../../../../../shared/format.ts'
import { Dot } from '../../../sheet/marks.tsx'
import type { Conflict, Difference } from '../changes/differences.ts'
import { atOnce, inWords } from '../changes/field-words.ts'
import { type Body, type Json, valueAt, type Wrong } from '../draft.ts'

export interface Form {
  readonly body: Body
  readonly isNew: boolean
  /** True while the sale runs, so that what is saved is in force at once. */
  readonly isRunning: boolean
  /** The errors and the warnings to show now. */
  readonly wrong: Wrong
  readonly warnings: Wrong
  /** The unsaved changes; none of a new sale. */
  readonly changes: readonly Difference[]
  /** What somebody else has changed meanwhile in another way, and nobody has decided yet. */
  readonly conflicts: readonly Conflict[]
  /** The name of whoever changed it. */
  readonly others: string
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

export interface Named {
  readonly path: string
  readonly label: string
  /** Says what the value does, in the present. An error takes its place. */
  readonly note?: ComponentChildren
  /** True if an empty field is omitted from the body. */
  readonly optional?: boolean
}

export type Level = '' | 'is-bad' | 'is-watch' | 'is-info'

export const isWithin = (path: string, parent: string) => `${path}.`.startsWith(`${parent}.`)

/** The state of a field, and the sentence about it. */
export function useState({ path, note }: Pick<Named, 'path' | 'note'>): {
  readonly level: Level
  readonly note: ComponentChildren
} {
  const { body, isRunning, wrong, warnings, changes, conflicts, others } = useForm()
  const change = changes.find((one) => one.path === path) ?? changes.find((one) => isWithin(one.path, path))
  const was = change?.path === path ? `Was ${inWords(path, change.before, body)}.` : 'Changed.'
  const fault = wrong.get(path)
  if (fault !== undefined)
    return {
      level: 'is-bad',
      note: (
        <>
          <Dot level="bad" />
          {sentence(fault)} {change && was}
        </>
      ),
    }
  const conflict = conflicts.find((one) => isWithin(one.path, path))
  if (conflict)
    return {
      level: 'is-watch',
      note: (
        <>
          <Dot level="watch" />
          {others} wrote {inWords(conflict.path, conflict.theirs, body)}. {note}
        </>
      ),
    }
  const warning = warnings.get(path)
  if (change)
    return {
      level: 'is-info',
      note: (
        <>
          <Dot level="info" />
          <b>{was}</b> {isRunning && `${sentence(atOnce(change))} `}
          {warning ?? note}
        </>
      ),
    }
  if (warning !== undefined)
    return {
      level: '',
      note: (
        <>
          <Dot level="watch" />
          {warning}
        </>
      ),
    }
  return { level: '', note }
}

/** The API's messages are halves, such as "at most 3650 days". */
const sentence = (text: string) => `${capital(text)}${/[.!?]$/.test(text) ? '' : '.'}`

/** The properties that all inputs share. */
export function useField(named: Pick<Named, 'path' | 'note'>) {
  const form = useForm()
  const id = useId()
  const { level, note } = useState(named)
  const attributes = {
    id,
    name: named.path,
    'aria-invalid': level === 'is-bad',
    'aria-describedby': note ? `${id}-note` : undefined,
    onBlur: () => form.touch(named.path),
  } as const
  return { form, value: valueAt(form.body, named.path), level, note, attributes }
}

interface RowProps {
  readonly label: ComponentChildren
  /** The id of the input that the label names; a group of inputs names itself. */
  readonly id?: string | undefined
  readonly level?: Level
  readonly note?: ComponentChildren
  readonly children: ComponentChildren
}

/** A row of a form: label, control, and a sentence below it. */
export const Row = ({ label, id, level = '', note, children }: RowProps) => (
  <div class={`set ${level}`}>
    {id === undefined ? <span>{label}</span> : <label for={id}>{label}</label>}
    {children}
    {note && (
      <p id={id === undefined ? undefined : `${id}-note`} class={level === 'is-bad' ? 'note is-bad' : 'note'}>
        {note}
      </p>
    )}
  </div>
)

/** The frame around an input, with what stands before and behind it. */
export const Framed = ({
  level,
  isShort = false,
  before,
  unit,
  children,
}: {
  readonly level: Level
  readonly isShort?: boolean
  readonly before?: ComponentChildren
  readonly unit?: ComponentChildren
  readonly children: ComponentChildren
}) => (
  <span class={`field ${isShort ? 'short' : ''} ${level === 'is-bad' ? level : ''}`}>
    {before}
    {children}
    {unit !== undefined && <span class="quiet">{unit}</span>}
  </span>
)
