/**
 * Exchanges the fields of an address when another country is chosen, and checks its postcode. Only the turn of a sale
 * that sends its goods loads it, because it knows all countries. Without it all fields are there.
 */
import { isPostcode } from '../../../shared/api/addresses.ts'
import type { Delivery } from '../../../shared/api/goods.ts'
import { fill } from '../../../shared/format.ts'
import { type AddressWords, addressTags, deliveryFields } from '../../pages/turn/address-fields.ts'
import { elementOf } from '../page.ts'

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

const fieldsIn = (part: HTMLElement) =>
  part.querySelectorAll<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>('input, select, textarea')
