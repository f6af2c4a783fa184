/** Search or act (Ctrl K): what can be done on the page, the sales, orders by what is typed, and all pages. */
import { signal, useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import { useEffect, useId, useRef } from 'preact/hooks'
import { useLocation, useSearch } from 'wouter-preact'
import { readSales } from '../api.ts'
import { may } from '../session.ts'
import { Icon, type IconName, Keys } from '../sheet/icon.tsx'
import { pressable } from './keys.ts'
import { ALL_ENTRIES, type Entry, SALE_ENTRIES, saleHref, saleIn } from './navigation.ts'

const isOpen = signal(false)
export const openPalette = () => {
  isOpen.value = true
}

interface Hit {
  readonly group: 'Do' | 'Sales' | 'Orders' | 'Go to'
  readonly text: string
  readonly note?: string
  readonly icon: IconName
  readonly keys?: string | undefined
  run(): void
}

/** The list offers at most this many sales. */
const SALES = 6

/** The keys that have no entry of their own in the list. */
const OTHER_KEYS = [
  ['Search here', '/'],
  ['Search or act', 'Ctrl K'],
  ['Close', 'Esc'],
] as const

export function Palette() {
  return isOpen.value ? <Open /> : null
}

function Open() {
  const dialog = useRef<HTMLDialogElement>(null)
  const typed = useSignal('')
  const at = useSignal(0)
  const id = useId()
  const hits = useHits(typed.value)
  const chosen = Math.min(at.value, hits.length - 1)
  useEffect(() => dialog.current?.showModal(), [])
  useEffect(
    () => dialog.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' }),
    [chosen, hits.length],
  )
  const run = (hit: Hit | undefined) => {
    if (!hit) return
    dialog.current?.close()
    hit.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by !== undefined) at.value = (chosen + by + hits.length) % Math.max(1, hits.length)
    else if (event.key === 'Enter') run(hits[chosen])
    else return
    event.preventDefault()
  }
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Search or act"
      onClose={() => (isOpen.value = false)}
      closedby="any"
    >
      <div class="sec">
        <label class="field">
          <Icon name="search" />
          <span class="unseen">Search or act</span>
          <input
            type="search"
            role="combobox"
            aria-expanded="true"
            aria-controls={id}
            aria-activedescendant={hits.length > 0 ? `${id}-${chosen}` : undefined}
            placeholder="Sale, order, or what to do"
            autocomplete="off"
            autofocus
            value={typed.value}
            onInput={({ currentTarget }) => {
              typed.value = currentTarget.value
              at.value = 0
            }}
            onKeyDown={onKeyDown}
          />
          <Keys>Esc</Keys>
        </label>
        <div class="menu" id={id} role="listbox" aria-label="Found">
          {hits.map((hit, i) => (
            <Found
              key={`${hit.group} ${hit.text} ${i}`}
              id={`${id}-${i}`}
              hit={hit}
              isFirst={hits[i - 1]?.group !== hit.group}
              isChosen={i === chosen}
              onRun={() => run(hit)}
            />
          ))}
        </div>
        <dl class="keys small quiet">
          {OTHER_KEYS.map(([name, key]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <kbd>{key}</kbd>
              </dd>
            </div>
          ))}
        </dl>
      </div>
    </dialog>
  )
}

interface FoundProps {
  readonly id: string
  readonly hit: Hit
  readonly isFirst: boolean
  readonly isChosen: boolean
  onRun(): void
}

const Found = ({ id, hit: { group, text, note, icon, keys }, isFirst, isChosen, onRun }: FoundProps) => (
  <>
    {isFirst && (
      <div role="presentation" class="small quiet group-name">
        {group}
      </div>
    )}
    {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys, as in every combobox. */}
    <div role="option" id={id} class="hit" tabIndex={-1} aria-selected={isChosen} onClick={onRun}>
      <Icon name={icon} />
      <span>
        {text}
        {note !== undefined && <small class="quiet"> {note}</small>}
      </span>
      {keys !== undefined && <Keys class="end">{keys}</Keys>}
    </div>
  </>
)

/** Acts come first. Every typed word must occur. */
function useHits(typed: string): readonly Hit[] {
  const [path, navigate] = useLocation()
  const search = useSearch()
  const sale = saleIn(path, search)
  const { data } = useQuery({ queryKey: ['sales'], queryFn: readSales })
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word))
  const go = (entry: Entry, href: string): Hit => ({ group: 'Go to', ...entry, run: () => navigate(href) })
  const isMine = ({ role }: Entry) => role === undefined || may(role)
  const acts = pressable().map((button): Hit => {
    const keys = button.getAttribute('aria-keyshortcuts') ?? undefined
    return { group: 'Do', text: nameOf(button), icon: 'play', keys, run: () => button.click() }
  })
  const sales = (data?.sales ?? []).map(
    ({ sale, name }): Hit => ({
      group: 'Sales',
      text: name,
      note: sale,
      icon: 'sales',
      run: () => navigate(saleHref(sale, '')),
    }),
  )
  const pages = [
    ...(sale === undefined ? [] : SALE_ENTRIES.filter(isMine).map((entry) => go(entry, saleHref(sale, entry.href)))),
    ...ALL_ENTRIES.filter(isMine).map((entry) => go(entry, entry.href)),
  ]
  const orders: Hit = {
    group: 'Orders',
    text: `Find orders with “${typed.trim()}”`,
    icon: 'orders',
    run: () => navigate(`/console/orders?q=${encodeURIComponent(typed.trim())}`),
  }
  const found = (hits: readonly Hit[]) => hits.filter(({ text, note = '' }) => has(`${text} ${note}`))
  return [
    ...found(acts),
    ...(words.length > 0 ? found(sales).slice(0, SALES) : []),
    ...found(pages),
    ...(words.length > 0 ? [orders] : []),
  ]
}

/** A button's name without the keys that it shows. */
function nameOf(button: HTMLElement): string {
  const copy = button.cloneNode(true) as HTMLElement
  for (const key of copy.querySelectorAll('.kbd')) key.remove()
  return (button.getAttribute('aria-label') ?? copy.textContent ?? '').trim()
}
