/**
 * Shows the shop's announcements while the page is open. They are part of the schedule, which the page reads anyway.
 */
import { moment } from '../../../shared/format.ts'
import type { Schedule } from '../../../shared/schedule.ts'
import { inLanguage } from '../../pages/parts/announcement.ts'
import { byId, each, element, type Page, show, type Tools } from '../page.ts'

/** A text of the shop in any language and direction. */
export const shopText = (tag: keyof HTMLElementTagNameMap, texts: Readonly<Record<string, string>>, page: Page) => {
  const { text, lang } = inLanguage(texts, page.lang)
  return element(tag, { dir: 'auto', lang }, text)
}

export const timeElement = (page: Page, iso: string) =>
  element('time', { datetime: iso, class: 'small quiet' }, moment(page.lang, Date.parse(iso)))

/** Changes the live region only if the announcement changes, so that a screen reader reads each announcement once. */
export function showAnnouncement({ announcement }: Schedule, page: Page): void {
  const region = byId('shop-announcement')
  const id = announcement?.id ?? ''
  if (!region || (region.dataset.id ?? '') === id) return
  region.dataset.id = id
  region.replaceChildren()
  if (!announcement) return
  const { level, text, since } = announcement
  const label = element('p', {}, element('b', {}, region.dataset[level] ?? ''), ' ')
  label.append(timeElement(page, since))
  const urgent = level === 'warning' ? ' urgent' : ''
  const box = element('div', { class: `notice${urgent}`, 'data-level': level }, label)
  box.append(shopText('p', text, page))
  region.append(box)
}

let reasonShown: string | null = null

export function showPauseReason({ phase, pause_reason }: Schedule, page: Page, { announce }: Tools): void {
  const reason = phase === 'paused' && pause_reason ? inLanguage(pause_reason, page.lang) : null
  let isVisible = false
  each('[data-reason]', (place) => {
    if (reason && place.textContent !== reason.text) [place.textContent, place.lang] = [reason.text, reason.lang]
    show(place, reason !== null)
    isVisible ||= place.closest('[hidden]') === null
  })
  if (reason && isVisible && reasonShown !== reason.text)
    announce(
      `${document.querySelector('[data-phases=paused] > .lead b, [data-when=paused] h1')?.textContent ?? ''}. ` +
        `${reason.text}`,
    )
  reasonShown = reason?.text ?? null
}
