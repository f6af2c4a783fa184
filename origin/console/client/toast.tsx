/** Shows the result of the last action for ten seconds, with its undo if there is one. */
import { signal } from '@preact/signals'
import { useMutation } from '@tanstack/preact-query'

/** The result of an action. Its undo has a result too. */
export interface Done {
  readonly text: string
  readonly undo?: () => Promise<Done>
}

const SHOWN_MS = 10_000
const latest = signal<Done | null>(null)
let timer = 0

export function say(done: Done): void {
  latest.value = done
  goLater()
}

/** The message stays while the pointer or the focus is on it. */
function goLater(): void {
  clearTimeout(timer)
  timer = window.setTimeout(() => {
    latest.value = null
  }, SHOWN_MS)
}

export function Toast() {
  const { mutate, error, isPending, reset } = useMutation({
    mutationFn: (undo: () => Promise<Done>) => undo(),
    onSuccess: say,
  })
  const done = latest.value
  if (done === null && error) reset()
  const stay = () => clearTimeout(timer)
  return (
    <div
      class="toasts"
      role="status"
      onPointerEnter={stay}
      onPointerLeave={goLater}
      onFocusIn={stay}
      onFocusOut={goLater}
    >
      {done && (
        <div class="toast">
          <span>{done.text}</span>
          {done.undo && (
            <button type="button" disabled={isPending} onClick={() => done.undo && mutate(done.undo)}>
              Undo
            </button>
          )}
          {error && <span role="alert">{error.message}</span>}
        </div>
      )}
    </div>
  )
}
