/**
 * Exchanges the fields of an address when another country is chosen, and checks its postcode. Only the turn of a sale
 * that sends its goods loads it, because it knows all countries. Without it all fields are there.
 */
import { addressLines, isPostcode } from '../../../shared/api/addresses.ts'
import type { Delivery } from '../../../shared/api/goods.ts'
import { fill, listed } from '../../../shared/format.ts'
import { type AddressWords, addressTags, deliveryFields } from '../../pages/turn/address-fields.ts'
import { byId, elementOf } from '../page.ts'

/** Exchanges the fields of a part whenever the country changes. The part's own country is that of its fields. */
export function exchangeFields(
  part: HTMLElement,
  country: HTMLSelectElement,
  delivery: Delivery,
  words: AddressWords,
): void {
  const { lang } = document.documentElement
  const countries = [...country.options].map(({ value }) => value).filter((code) => code !== '')
  /** The values of all fields so far, because the next country may have one that this one lacks. */
  const values: Record<string, string> = {}

  const exchange = () => {
    for (const { name, value } of fieldsIn(part)) values[name] = value
    if ((part.dataset.country ?? '') === country.value) return
    part.dataset.country = country.value
    const fields = deliveryFields(delivery, country.value || undefined, countries)
    part.replaceChildren(...addressTags(fields, { values, words, lang }).map(elementOf))
    check()
  }

  const check = () => {
    const field = part.querySelector<HTMLInputElement>('[name=postcode]')
    if (!field) return
    const isWrong = field.value.trim() !== '' && !isPostcode(country.value, field.value)
    const name = country.selectedOptions[0]?.textContent ?? ''
    field.setCustomValidity(isWrong ? fill(words.wrongPostcode, { country: name }) : '')
  }

  country.addEventListener('change', exchange)
  part.addEventListener('input', check)
  exchange()
  check()
}

/** Shows the address of a folded delivery, and folds one that was filled in before and is complete. */
export function foldAddress(part: HTMLElement, country: HTMLSelectElement, isFilledIn: boolean): void {
  const details = part.closest<HTMLDetailsElement>('details.to')
  if (!details) return
  const { lang } = document.documentElement
  const fields = () => [country, ...fieldsIn(part)]
  const show = () => {
    const address = Object.fromEntries(fields().map(({ name, value }) => [name, value.trim() || undefined]))
    const text = details.open ? '' : listed(lang, addressLines(address, lang))
    byId('delivered-to')?.replaceChildren(text)
  }
  details.addEventListener('toggle', show)
  if (isFilledIn && fields().every(({ validity }) => validity.valid)) details.open = false
}

const fieldsIn = (part: HTMLElement) =>
  part.querySelectorAll<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>('input, select, textarea')
