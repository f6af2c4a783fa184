/** What several pages of the console are made of. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { ApiError } from './api.ts'

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
  /** On the button that opens it, and on the one that does it. */
  readonly action: string
  /** For those who hear it, where several have the same words. */
  readonly name?: string
  /** What it will do, in a sentence. */
  readonly effect: ComponentChildren
  readonly disabled?: boolean
  readonly danger?: boolean
  readonly children?: ComponentChildren
  /** Throws what the dialog then shows. */
  onConfirm(form: FormData): Promise<unknown>
}

/** A button that says what it will do, and does it when that is confirmed. `children`: fields of its form. */
export function Confirm({ action, name, effect, disabled, danger, children, onConfirm }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const error = useSignal<unknown>(null)
  const busy = useSignal(false)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    busy.value = true
    error.value = null
    try {
      await onConfirm(new FormData(event.target as HTMLFormElement))
      dialog.current?.close()
    } catch (failure) {
      error.value = failure
    } finally {
      busy.value = false
    }
  }
  return (
    <>
      <button
        type="button"
        class={danger ? 'danger' : ''}
        aria-label={name}
        disabled={disabled}
        onClick={() => dialog.current?.showModal()}
      >
        {action}
      </button>
      <dialog ref={dialog} aria-label={action}>
        <form onSubmit={submit}>
          <h2>{action}</h2>
          <p>{effect}</p>
          {children}
          <Failure error={error.value} />
          <p class="buttons">
            <button type="button" onClick={() => dialog.current?.close()}>
              Go back
            </button>
            <button type="submit" class={danger ? 'danger primary' : 'primary'} disabled={busy.value}>
              {action}
            </button>
          </p>
        </form>
      </dialog>
    </>
  )
}

/** Asks again and again while a page is shown: `everyMs` after each answer. Returns the latest answer and error. */
export function useRepeated<T>(ask: () => Promise<T>, everyMs: number, key: string) {
  const latest = useSignal<{ readonly value?: T; readonly error?: unknown }>({})
  useEffect(() => {
    let timer = 0
    let isGone = false
    const again = async () => {
      const answer = await ask().then(
        (value) => ({ value }),
        (error: unknown) => ({ ...latest.value, error }),
      )
      if (isGone) return
      latest.value = answer
      timer = setTimeout(again, everyMs)
    }
    void again()
    return () => {
      isGone = true
      clearTimeout(timer)
    }
  }, [key, everyMs])
  return latest.value
}

/** In the reader's own time zone, without a.m. and p.m. */
export const instant = (iso: string) =>
  new Date(iso).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' })
/** To the second. */
export const moment = (iso: string) =>
  new Date(iso).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })
export const time = (iso: string) => new Date(iso).toLocaleTimeString('en', { timeStyle: 'medium', hourCycle: 'h23' })
export const count = (value: number) => value.toLocaleString('en')
