/** The error messages of fields in the page's words, and their display next to the field. */
import { count, fill } from '../../../shared/format.ts'
import { faultId } from '../../pages/parts/fault.ts'
import type { Offer } from '../../pages/turn/checkout-fields.ts'
import { element } from '../page.ts'

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

/** Returns an empty text for a valid field. `option` is the name of what the field chooses. */
export function messageOf(field: Field, { words, limit }: Offer, option: string | undefined, lang: string): string {
  const { validity } = field
  if (validity.valid) return ''
  if (validity.customError) return field.validationMessage
  if (validity.valueMissing) {
    if (field.type === 'checkbox') return words.acceptFirst
    if (field.type === 'radio') return fill(words.choose, { what: option ?? '' })
    return words.missing
  }
  if (field.type === 'email') return words.wrong
  if (field.type === 'number' && validity.rangeOverflow) {
    const most = Number((field as HTMLInputElement).max)
    return fill(most < limit ? words.each : words.most, { n: count(lang, most) })
  }
  return field.validationMessage
}

/** Shows an error or removes it, and replaces the server's own. Radio buttons that belong together share one. */
export function say(field: Field, text: string): void {
  const group = field.type === 'radio' ? field.closest('fieldset') : null
  const id = faultId(field.name === 'product_id' ? 'product' : field.name)
  let fault = document.getElementById(id)
  if (text === '') {
    fault?.remove()
    field.removeAttribute('aria-invalid')
    if (field.getAttribute('aria-describedby') === id) field.removeAttribute('aria-describedby')
    return
  }
  if (!fault) {
    fault = element('p', { class: 'fault small', id })
    const beside = field.closest('.stepper, .join, label') ?? field
    const row = group ?? field.closest('.entry')
    if (row) row.append(fault)
    else beside.after(fault)
  }
  if (fault.textContent !== text) fault.textContent = text
  field.setAttribute('aria-invalid', 'true')
  field.setAttribute('aria-describedby', id)
}
