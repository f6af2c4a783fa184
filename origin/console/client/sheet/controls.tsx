/** Controls that pages share: a choice of one, chips that filter, a search field, and radio buttons as boxes. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'
import { Icon, Keys } from './icon.tsx'

interface SegmentedProps<T extends string> {
  /** The name of the group for screen readers. */
  readonly label: string
  readonly value: T
  readonly options: readonly (readonly [value: T, text: ComponentChildren, title?: string])[]
  onChoose(value: T): void
}

/** A choice of one among a few, all of them in sight. */
export const Segmented = <T extends string>({ label, value, options, onChoose }: SegmentedProps<T>) => (
  <fieldset class="seg" aria-label={label}>
    {options.map(([option, text, title]) => (
      <button key={option} type="button" title={title} aria-pressed={option === value} onClick={() => onChoose(option)}>
        {text}
        {title !== undefined && <span class="unseen"> {title}</span>}
      </button>
    ))}
  </fieldset>
)

interface PickerProps {
  /** The name for screen readers, where the choice speaks for itself. */
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [value: string, text: string])[]
  /** True at the end of a row. */
  readonly isLast?: boolean
  onChoose(value: string): void
}

/** A choice of one among many, in a frame. */
export const Picker = ({ label, value, options, isLast, onChoose }: PickerProps) => (
  <label class={isLast ? 'field end' : 'field'}>
    <span class="unseen">{label}</span>
    <select value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  </label>
)

interface ChipProps {
  readonly on: boolean
  readonly children: ComponentChildren
  onToggle(): void
}

/** A filter that is off (dashed, with a plus) or on (tinted, with a cross). */
export const Chip = ({ on, children, onToggle }: ChipProps) => (
  <button type="button" class={on ? 'chip on' : 'chip'} aria-pressed={on} onClick={onToggle}>
    {!on && <Icon name="plus" />}
    {children}
    {on && <Icon name="x" />}
  </button>
)

interface SearchProps {
  readonly label: string
  readonly value: string
  readonly placeholder?: string
  onInput(value: string): void
}

/** The page's search field. The key `/` leads to it. */
export const SearchField = ({ label, value, placeholder, onInput }: SearchProps) => (
  <label class="field">
    <Icon name="search" />
    <span class="unseen">{label}</span>
    <input
      type="search"
      value={value}
      placeholder={placeholder}
      onInput={({ currentTarget }) => onInput(currentTarget.value)}
    />
    <Keys class="wide">/</Keys>
  </label>
)

interface InputProps {
  readonly label: ComponentChildren
  /** What stands in the field behind the input, such as a unit. */
  readonly unit?: ComponentChildren
  /** Says what the value does, in the present. */
  readonly note?: ComponentChildren
  readonly wrong?: string | undefined
  readonly input: Omit<JSX.IntrinsicElements['input'], 'label'>
}

/** A labelled input, with a note below that its error replaces. */
export function Labelled({ label, unit, note, wrong, input }: InputProps) {
  const id = useId()
  return (
    <label class="label">
      {label}
      <span class={wrong === undefined ? 'field' : 'field is-bad'}>
        <input {...input} aria-invalid={wrong !== undefined} aria-describedby={`${id}-note`} />
        {unit !== undefined && <span class="quiet">{unit}</span>}
      </span>
      <small id={`${id}-note`} class={wrong === undefined ? 'note' : 'note is-bad'}>
        {wrong ?? note}
      </small>
    </label>
  )
}

interface OptionsProps<T extends string> {
  readonly legend: string
  readonly name: string
  readonly value: T
  readonly options: readonly (readonly [value: T, text: string, note?: string])[]
  /** Shows the number of each as its key; the dialog handles it. */
  readonly numbered?: boolean
  onChoose(value: T): void
}

/** A choice of one as boxes, each with a note. */
export const Options = <T extends string>({ legend, name, value, options, numbered, onChoose }: OptionsProps<T>) => (
  <fieldset class="stack close">
    <legend class="small quiet">{legend}</legend>
    {options.map(([option, text, note], i) => (
      <label key={option} class="opt">
        <input type="radio" name={name} value={option} checked={option === value} onChange={() => onChoose(option)} />
        <span>
          {text}
          {note !== undefined && (
            <>
              <br />
              <small class="quiet">{note}</small>
            </>
          )}
        </span>
        {numbered && <Keys class="wide">{i + 1}</Keys>}
      </label>
    ))}
  </fieldset>
)

/** Makes an element a place for files: its attributes, and whether files are over it now. */
export function useDrop(onFiles: (files: FileList | undefined) => unknown) {
  const isOver = useSignal(false)
  return {
    isOver: isOver.value,
    place: {
      onDragOver: (event: DragEvent) => {
        event.preventDefault()
        isOver.value = true
      },
      onDragLeave: () => {
        isOver.value = false
      },
      onDrop: (event: DragEvent) => {
        event.preventDefault()
        isOver.value = false
        void onFiles(event.dataTransfer?.files)
      },
    },
  }
}
