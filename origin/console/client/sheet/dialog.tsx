/** A dialog over the page: what stops, what goes on, what is kept, and how it is undone. Its button says the act. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'

interface DialogProps {
  readonly title: string
  /** One quiet line below the title. */
  readonly sub?: ComponentChildren
  readonly isOpen: boolean
  /** True for a dialog as wide as a page. */
  readonly broad?: boolean
  /** False for one that only its own step closes. */
  readonly closes?: boolean
  readonly children: ComponentChildren
  onClose(): void
  onKeyDown?(event: KeyboardEvent): void
}

/** The content is rendered while the dialog is open, so each opening begins anew. */
export function Dialog({ title, sub, isOpen, broad, closes = true, children, onClose, onKeyDown }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    if (isOpen && !dialog.current?.open) dialog.current?.showModal()
    if (!isOpen && dialog.current?.open) dialog.current.close()
  }, [isOpen])
  return (
    <dialog
      ref={dialog}
      class={broad ? 'broad' : undefined}
      aria-labelledby={id}
      onClose={onClose}
      onCancel={(event) => {
        if (!closes) event.preventDefault()
      }}
      onKeyDown={onKeyDown}
    >
      {isOpen && (
        <div class="sec">
          <header class="title">
            <div>
              <h2 id={id}>{title}</h2>
              {sub !== undefined && <p class="quiet">{sub}</p>}
            </div>
            {closes && (
              <button type="button" class="btn bare end" aria-label="Close" onClick={() => dialog.current?.close()}>
                <Icon name="x" />
              </button>
            )}
          </header>
          {children}
        </div>
      )}
    </dialog>
  )
}

const EFFECTS = {
  stops: ['Stops', 'pause', 'is-bad'],
  goesOn: ['Goes on', 'check', 'is-good'],
  isKept: ['Is kept', 'check', 'is-good'],
  undo: ['Undo', 'undo', ''],
} as const satisfies Readonly<Record<string, readonly [string, IconName, string]>>

type EffectName = keyof typeof EFFECTS

/** What an action does, in the four sentences that every dialog has. Without undo it says so. */
export const Effects = ({
  effects,
}: {
  readonly effects: Readonly<Partial<Record<EffectName, ComponentChildren>>>
}) => (
  <ul class="stack close">
    {(Object.keys(EFFECTS) as EffectName[]).map((name) => {
      const [title, icon, level] = EFFECTS[name]
      const effect = effects[name]
      return (
        effect !== undefined && (
          <li key={name} class={`effect ${level}`}>
            <Icon name={icon} />
            <span>
              <b>{title}:</b> {effect}
            </span>
          </li>
        )
      )
    })}
  </ul>
)
