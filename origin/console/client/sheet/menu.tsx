/** A menu of what is seldom done, below the button that opens it. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

interface MenuProps {
  /** The name of the button for screen readers, with what is in the menu. */
  readonly label: string
  /** The `li` elements; a button in one of them may open a dialog. */
  readonly children: ComponentChildren
}

export function Menu({ label, children }: MenuProps) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  // A dialog that was opened from the menu closes it too; its event does not bubble.
  useEffect(() => {
    const hide = () => list.current?.hidePopover()
    list.current?.addEventListener('close', hide, true)
    return () => list.current?.removeEventListener('close', hide, true)
  }, [])
  return (
    <>
      <button type="button" class="btn bare" popovertarget={id} aria-label={label}>
        <Icon name="more" />
      </button>
      <div ref={list} class="pop dropdown acts-menu" id={id} popover="auto">
        <ul class="menu">{children}</ul>
      </div>
    </>
  )
}
