/**
 * The console's keys. A button or link that has a key names it in `aria-keyshortcuts`, and the key presses it; so what
 * a page does not show has no key. `G` and a letter lead to a page.
 */
import { ALL_ENTRIES, SALE_ENTRIES, saleHref, saleIn } from './navigation.ts'

/** The second key of two is awaited for this long. */
const SECOND_WITHIN_MS = 1_500

/** What can be done on the page that is shown: its buttons and links that have a key. */
export const pressable = (): HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>('main [aria-keyshortcuts]:not(:disabled)')].filter((one) =>
    one.checkVisibility(),
  )

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('input, select, textarea'))
const hasDialog = () => document.querySelector('dialog[open], [popover]:popover-open:not(#side)') !== null

interface Handlers {
  openPalette(): void
  navigate(href: string): void
}

/** Listens until the returned function is called. */
export function listen({ openPalette, navigate }: Handlers): () => void {
  let goingUntilMs = 0
  const leads = (letter: string): string | undefined => {
    const sale = saleIn(location.pathname, location.search)
    const isIt = ({ keys }: { readonly keys?: string }) => keys === `G ${letter}`
    const ofSale = sale === undefined ? undefined : SALE_ENTRIES.find(isIt)
    return ofSale && sale !== undefined ? saleHref(sale, ofSale.href) : ALL_ENTRIES.find(isIt)?.href
  }
  const onKey = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey, target } = event
    if ((ctrlKey || metaKey) && key.toLowerCase() === 'k') {
      event.preventDefault()
      openPalette()
      return
    }
    if (ctrlKey || metaKey || altKey || isTyping(target) || hasDialog()) return
    const letter = key.toUpperCase()
    const isSecond = performance.now() < goingUntilMs
    goingUntilMs = letter === 'G' && !isSecond ? performance.now() + SECOND_WITHIN_MS : 0
    const href = isSecond ? leads(letter) : undefined
    const search = key === '/' ? document.querySelector<HTMLElement>('main input[type="search"]') : null
    const button = isSecond ? undefined : pressable().find((one) => one.getAttribute('aria-keyshortcuts') === letter)
    if (href === undefined && !search && !button && key !== '?') return
    event.preventDefault()
    if (href !== undefined) navigate(href)
    else if (search) search.focus()
    else if (button) button.click()
    else openPalette()
  }
  addEventListener('keydown', onKey)
  return () => removeEventListener('keydown', onKey)
}
