/**
 * Keeps what a visitor fills in while in line, for the form of the turn. The line's page loads it when its part is
 * opened.
 */
import type { Prepared } from '../../pages/line/prepare.ts'
import { exchangeFields } from './address.ts'
import { fillIn, keepTyped, loadTyped } from './typed.ts'

export function start(part: HTMLElement): void {
  const form = part.querySelector('form')
  // The part may be closed and opened again.
  if (!form || form.dataset.isStarted) return
  form.dataset.isStarted = 'yes'
  const { delivery, words }: Prepared = JSON.parse(form.querySelector('script')?.textContent ?? '')
  const address = form.querySelector<HTMLElement>('#address')
  const country = form.elements.namedItem('country')
  const typed = loadTyped(form)
  if (typed) fillIn(form, typed)
  if (address && country instanceof HTMLSelectElement) exchangeFields(address, country, delivery, words)
  const kept = form.querySelector<HTMLElement>('[data-kept]')
  form.addEventListener('input', () => {
    keepTyped(form)
    kept?.replaceChildren(kept.dataset.kept ?? '')
  })
  // The form is not sent before the turn.
  form.addEventListener('submit', (event) => event.preventDefault())
}
