/**
 * Shows the shop's announcements while the page is open. They are part of the schedule, which the page reads anyway.
 */
import { moment } from '../../../shared/format.ts'
import type { Schedule } from '../../../shared/schedule.ts'
import { announcementPart, inLanguage } from '../../pages/parts/announcement.ts'
import { byId, each, elementOf, type Page, show, type Tools } from '../page.ts'

export const timeText = ({ lang }: Page, at: string) => moment(lang, Date.parse(at))

/** Changes the live region only if the announcement changes, so that a screen reader reads each announcement once. */
export function showAnnouncement({ announcement: latest }: Schedule, page: Page, atMs: number): void {
  const region = byId('shop-announcement')
  const announcement = latest?.until && Date.parse(latest.until) <= atMs ? null : latest
  const id = announcement?.id ?? ''
  if (!region || (region.dataset.id ?? '') === id) return
  region.dataset.id = id
  region.replaceChildren()
  if (!announcement) return
  const label = region.dataset[announcement.level] ?? ''
  region.append(elementOf(announcementPart(announcement, [page.lang, label, timeText(page, announcement.since)])))
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
