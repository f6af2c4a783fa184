/** Components that several pages of the console share. */
import { useSignal } from '@preact/signals'
import { useMutation } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { ApiError } from './api.ts'
import { count, instant } from './format.ts'
import { Icon, type IconName, Keys } from './sheet/icon.tsx'
import { type Done, say } from './toast.tsx'

/** Describes an error in words, with the errors of single fields. */
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

/** What could not be read, with a button that reads it again. */
export const Unread = ({ error, onAgain }: { readonly error: unknown; onAgain(): unknown }) => (
  <div class="sec">
    <Failure error={error} />
    <p>
      <button type="button" class="btn" onClick={() => void onAgain()}>
        Read it again
      </button>
    </p>
  </div>
)

/** If fields are named, the detail is left out, because it would only repeat the first of them. */
function messageOf(error: unknown): string {
  if (error instanceof ApiError && error.problem.errors) return error.problem.title ?? error.message
  return error instanceof Error ? error.message : String(error)
}

interface ConfirmProps {
  /** The label of the button that opens the dialog, and of the one that confirms unless `act` is set. */
  readonly action: string
  /** What the opening button shows, if that is not `action` alone. */
  readonly text?: ComponentChildren
  /** The label of the button that confirms. It gets the focus, because the dialog has no required field. */
  readonly act?: string
  /** The heading of the dialog, and one quiet line below it. */
  readonly title?: string
  readonly sub?: string
  /** The name for screen readers, if several buttons have the same label. */
  readonly name?: string
  readonly icon?: IconName
  /** The key that opens the dialog. */
  readonly keys?: string | undefined
  readonly look?: 'primary' | 'bare' | undefined
  /** Describes the effect in a sentence, or as `Effects`. */
  readonly effect: ComponentChildren
  readonly disabled?: boolean
  readonly danger?: boolean
  readonly children?: ComponentChildren
  /** Performs the action and reports the result. The dialog shows an error that it throws. */
  onConfirm(form: FormData): Promise<Done>
  onKeyDown?(event: KeyboardEvent): void
}

/**
 * A button that opens a dialog with the effect of an action, which runs after confirmation. `children` are fields of
 * the dialog's form.
 */
export function Confirm(props: ConfirmProps) {
  const { action, act, name, effect, disabled, danger, children, look = '', icon, keys, title, sub } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const { onSubmit, error, isPending } = useSubmit(props.onConfirm, () => dialog.current?.close())
  return (
    <>
      <button
        type="button"
        class={`btn ${look}`}
        aria-label={name}
        aria-keyshortcuts={keys}
        disabled={disabled}
        onClick={() => dialog.current?.showModal()}
      >
        {icon && <Icon name={icon} />}
        {props.text ?? action}
        {keys !== undefined && look === 'primary' && <Keys class="wide">{keys}</Keys>}
      </button>
      <dialog ref={dialog} aria-label={action} onKeyDown={props.onKeyDown}>
        <form onSubmit={onSubmit}>
          <header>
            <h2>{title ?? action}</h2>
            {sub !== undefined && <p class="quiet">{sub}</p>}
          </header>
          {typeof effect === 'string' ? <p>{effect}</p> : effect}
          {children}
          <Failure error={error} />
          <footer class="row ends">
            <button type="button" class="btn tall" onClick={() => dialog.current?.close()}>
              Go back
            </button>
            <button
              type="submit"
              class={`btn tall ${danger ? 'danger' : 'primary'}`}
              disabled={isPending}
              autofocus={act !== undefined}
            >
              {act ?? action}
            </button>
          </footer>
        </form>
      </dialog>
    </>
  )
}

/**
 * Sends a form. Afterwards all data of the page are read again, and the result is announced. `onDone` is called after
 * a success.
 */
export function useSubmit(
  submit: (form: FormData) => Promise<Done | undefined>,
  onDone?: (form: HTMLFormElement) => void,
) {
  const { mutate, error, isPending } = useMutation({
    // An error before the call is shown like a refusal of it.
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

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title
  }, [title])
}

export const Loading = () => <p class="loading">Loading …</p>

const COPIED_MS = 2_000

export function Copy({ name, text }: { name: string; text: string }) {
  const isCopied = useSignal(false)
  // A page may write to the clipboard only over https, or on this machine.
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

/** Says who made the change because of which a call was refused (412), and when. */
export const whoChanged = ({ by, at }: ApiError['problem']) =>
  typeof by === 'string' && typeof at === 'string' ? `${by} (${instant(at)})` : 'Somebody'

/** All units as a sum that anybody can check. */
export const unitsSum = ({
  sold,
  held,
  free,
  withheld,
  total,
}: Readonly<Record<'sold' | 'held' | 'free' | 'withheld' | 'total', number>>) =>
  `${count(sold)} sold + ${count(held)} held + ${count(free)} ` +
  `free${withheld > 0 ? ` + ${count(withheld)} withheld` : ''} ` +
  `${sold + held + free + withheld === total ? '=' : '≠'} ${count(total)}`
