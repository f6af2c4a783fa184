/** What was announced before, loaded once somebody opens it. */
import type { PastAnnouncements } from '../../../shared/api/public.ts'
import type { Schedule } from '../../../shared/schedule.ts'
import { byId, get, type Page, textsOf } from '../page.ts'
import { element, shopText, timeElement } from './announcement.ts'

let isLoading = false

/** Loads the list when the visitor opens it, and again when a newer announcement has replaced the current one. */
export function showEarlier({ announcement }: Schedule, page: Page): void {
  const details = byId('earlier') as HTMLDetailsElement | null
  const list = byId('earlier-list')
  const of = announcement?.id ?? 'none'
  if (!details?.open || !list || list.dataset.of === of || isLoading) return
  list.dataset.of = of
  list.replaceChildren()
  void add(list, page, null)
}

async function add(list: HTMLElement, page: Page, older: number | null): Promise<void> {
  const { more = '', none = '', failed = '', ...levels } = textsOf('earlier')
  isLoading = true
  try {
    const response = await get(`/sales/${page.sale}/announcements${older === null ? '' : `?page=${older}`}`)
    if (!response.ok) throw new Error(String(response.status))
    const found: PastAnnouncements = await response.json()
    const items = found.announcements.map(({ level, text, since, until }) => {
      const label = element('p', {}, element('b', {}, levels[level] ?? ''), ' ')
      label.append(timeElement(page, since), ' – ', timeElement(page, until))
      return element(
        'li',
        { ...(level === 'warning' && { class: 'urgent' }), tabindex: '-1' },
        label,
        shopText('p', text, page),
      )
    })
    list.append(...(items.length > 0 || older !== null ? items : [element('li', {}, none)]))
    if (older !== null) items[0]?.focus()
    const next = found.older
    if (next !== null) {
      const button = element('button', { type: 'button', class: 'button second' }, more)
      const item = element('li', {}, button)
      button.onclick = () => {
        item.remove()
        void add(list, page, next)
      }
      list.append(item)
    }
  } catch {
    // Loads again when the visitor opens the list again, or with the next announcement.
    list.replaceChildren(element('li', {}, failed))
    const details = byId('earlier') as HTMLDetailsElement | null
    details?.addEventListener('toggle', () => delete list.dataset.of, { once: true })
  }
  isLoading = false
}
