/** What several pages of the console are made of. */
import { useSignal } from '@preact/signals'
import { useMutation } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Funnel } from '../../../shared/api/live.ts'
import { ApiError } from './api.ts'
import { type Done, say } from './toast.tsx'

/** An error in words, with what is wrong in each field. */
export function Failure({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null
  const errors = error instanceof ApiError ? (error.problem.errors ?? []) : []
  return (
    <div class="failure" role="alert">
      <p>{messageOf(error)}</p>
      {errors.length > 0 && (
        <ul>
          {errors.map(({ field, detail }) => (
            <li key={field}>
              <code>{field}</code> {detail}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** Where fields are named, the detail would only repeat the first of them. */
function messageOf(error: unknown): string {
  if (error instanceof ApiError && error.problem.errors) return error.problem.title ?? error.message
  return error instanceof Error ? error.message : String(error)
}

interface ConfirmProps {
  /** On the button that opens it, and on the one that does it unless `act` is. */
  readonly action: string
  /** On the button that does it, which then has the focus: nothing need be filled in. */
  readonly act?: string
  /** For those who hear it, where several have the same words. */
  readonly name?: string
  /** What it will do, in a sentence. */
  readonly effect: ComponentChildren
  readonly disabled?: boolean
  readonly danger?: boolean
  readonly children?: ComponentChildren
  /** Says what it has made true. Throws what the dialog then shows. */
  onConfirm(form: FormData): Promise<Done>
}

/** A button that says what it will do, and does it when that is confirmed. `children`: fields of its form. */
export function Confirm({ action, act, name, effect, disabled, danger, children, onConfirm }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const { onSubmit, error, isPending } = useSubmit(onConfirm, () => dialog.current?.close())
  return (
    <>
      <button type="button" aria-label={name} disabled={disabled} onClick={() => dialog.current?.showModal()}>
        {action}
      </button>
      <dialog ref={dialog} aria-label={action}>
        <form onSubmit={onSubmit}>
          <h2>{action}</h2>
          {typeof effect === 'string' ? <p>{effect}</p> : effect}
          {children}
          <Failure error={error} />
          <p class="buttons">
            <button type="button" onClick={() => dialog.current?.close()}>
              Go back
            </button>
            <button
              type="submit"
              class={danger ? 'danger' : 'primary'}
              disabled={isPending}
              autofocus={act !== undefined}
            >
              {act ?? action}
            </button>
          </p>
        </form>
      </dialog>
    </>
  )
}

/** Sends a form; afterwards all that the page shows is read again, and what is true now is said. `onDone`: where it succeeded. */
export function useSubmit(
  submit: (form: FormData) => Promise<Done | undefined>,
  onDone?: (form: HTMLFormElement) => void,
) {
  const { mutate, error, isPending } = useMutation({
    // What throws before the call is shown like a refusal of it.
    mutationFn: async (form: HTMLFormElement) => submit(new FormData(form)),
    onSuccess: (done, form) => {
      if (done) say(done)
      onDone?.(form)
    },
  })
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault()
    mutate(event.currentTarget as HTMLFormElement)
  }
  return { onSubmit, error, isPending }
}

/** What is typed into a form's field; empty for none. */
export const textIn = (form: FormData, name: string) => String(form.get(name) ?? '').trim()

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title
  }, [title])
}

export const Loading = () => <p class="loading">Loading …</p>

/** What a table's first row holds: names of columns, those after the first over numbers unless said otherwise. */
export function TableHead({ columns, texts = 1 }: { columns: readonly string[]; texts?: number }) {
  return (
    <thead>
      <tr>
        {columns.map((name, i) => (
          <th key={name} scope="col" class={i >= texts ? 'number' : ''}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
  )
}

/** A named choice by value. */
export function Choose({
  label,
  value,
  options,
  onChoose,
}: {
  label: ComponentChildren
  value: string
  options: readonly (readonly [value: string, text: string])[]
  onChoose(value: string): void
}) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

const COPIED_MS = 2_000

export function Copy({ name, text }: { name: string; text: string }) {
  const isCopied = useSignal(false)
  // Only over https, or on this machine, may a page write to the clipboard.
  if (!navigator.clipboard) return null
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    isCopied.value = true
    setTimeout(() => {
      isCopied.value = false
    }, COPIED_MS)
  }
  return (
    <button type="button" class="copy" aria-label={`Copy ${name}`} onClick={() => void copy()}>
      {isCopied.value ? 'Copied' : 'Copy'}
    </button>
  )
}

const LANGUAGE_NAMES = new Intl.DisplayNames('en', { type: 'language' })
export const languageName = (language: string) => LANGUAGE_NAMES.of(language) ?? language

/** In the reader's own time zone, without a.m. and p.m. */
export const instant = (iso: string) =>
  new Date(iso).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' })
/** Who made the change for which a call was refused (412), and when. */
export const whoChanged = ({ by, at }: ApiError['problem']) =>
  typeof by === 'string' && typeof at === 'string' ? `${by} (${instant(at)})` : 'Somebody'

/** To the second. */
export const moment = (iso: string) =>
  new Date(iso).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })
export const time = (iso: string) => new Date(iso).toLocaleTimeString('en', { timeStyle: 'medium', hourCycle: 'h23' })
export const count = (value: number) => value.toLocaleString('en')
/** With a decimal below ten. */
export const figure = (value: number) => value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })

/** What stands between those called and those who arrived. */
export const whoCame = ({ did_not_come, may_come }: Pick<Funnel, 'did_not_come' | 'may_come'>) =>
  did_not_come === null || may_come === null
    ? ''
    : `${count(did_not_come)} did not come, ${count(may_come)} may still come`

/** All units, as a sum that anybody can check. */
export const unitsSum = ({
  sold,
  held,
  free,
  withheld,
  total,
}: Readonly<Record<'sold' | 'held' | 'free' | 'withheld' | 'total', number>>) =>
  `${count(sold)} sold + ${count(held)} held + ${count(free)} free${withheld > 0 ? ` + ${count(withheld)} withheld` : ''} ${sold + held + free + withheld === total ? '=' : '≠'} ${count(total)}`
