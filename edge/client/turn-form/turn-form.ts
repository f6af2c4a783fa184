/**
 * The script of a turn's form. It shows the price while the visitor chooses, what is still missing, and the errors
 * next to their fields. Only a turn loads it. Without it the form works, and the server's response has the same
 * content.
 */

import type { Quote } from '../../../shared/api/internal.ts'
import { count, fill, money } from '../../../shared/format.ts'
import type { Problem } from '../../../shared/problem.ts'
import { choiceIn, daysText, withQuantity } from '../../pages/turn/cart/priced-lines.ts'
import type { Offer } from '../../pages/turn/checkout-fields.ts'
import { element } from '../page.ts'
import type * as AddressScript from './address.ts'
import { addLine, countSize, firstChoice, showBounds } from './cart.ts'
import { type Sum, sumOf } from './choice.ts'
import { messageOf, say } from './faults.ts'
import { rowsOf } from './rows.ts'
import { fillIn, forgetWithOrder, keepTyped, loadTyped } from './typed.ts'

const QUOTE_WITHIN_MS = 8_000
/** The price is requested this long after the last change. */
const QUOTE_AFTER_MS = 400

const WRONG = ':is(input, select, textarea):invalid, [aria-invalid=true]'

/** The fields on which no price depends. */
const WITHOUT_PRICE = new Set([
  ...['idempotency_key', 'total_minor', 'email', 'accept', 'name', 'company', 'street', 'line2', 'postcode', 'city'],
  ...['region', 'phone', 'note'],
])

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

let currentForm: TurnForm | null = null

/** Attaches the form to the offer on the page, which may have been replaced. */
export function start(data: HTMLElement): void {
  currentForm?.stop()
  const form = data.closest('form')
  currentForm = form && new TurnForm(form, JSON.parse(data.textContent ?? ''))
}

class TurnForm {
  readonly #form: HTMLFormElement
  readonly #offer: Offer
  readonly #lang = document.documentElement.lang
  readonly #stop = new AbortController()
  /** The total with the promo code, as the server calculated it for these fields. */
  #quoted: { readonly of: string; readonly totals: Quote } | null = null
  #quoteTimer = 0
  #wasSent = false
  #isFirst = true
  #isPressed = false
  /** The name of the field that was changed last. */
  #touched = ''

  constructor(form: HTMLFormElement, offer: Offer) {
    this.#form = form
    this.#offer = offer
    const { signal } = this.#stop
    const listen = (name: string, act: (event: Event) => void, capture = false) =>
      form.addEventListener(name, act, { signal, capture })
    listen('input', (event) => this.#onInput(event.target as Field))
    listen('change', (event) => this.#checkAfterPress(event.target as Field))
    document.addEventListener('pointerdown', () => this.#press(true), { signal, capture: true })
    for (const name of ['pointerup', 'pointercancel'])
      document.addEventListener(name, () => this.#press(false), { signal, capture: true })
    listen('choice', () => this.#onChoice())
    listen('invalid', (event) => this.#onInvalid(event), true)
    listen('click', (event) => this.#onClick(event))
    listen('submit', () => forgetWithOrder(form))
    if (offer.totals) this.#quoted = { of: this.#key(), totals: offer.totals }
    // A page with a fault answers what was sent, and shows that already, as the sale now allows it.
    const isAnswer = form.querySelector('[aria-invalid], [role=alert]') !== null
    const typed = isAnswer ? null : loadTyped(form)
    if (isAnswer) keepTyped(form)
    else if (typed) fillIn(form, typed)
    // A seat that was taken out of the cart is not kept.
    if (typed && offer.cart) keepTyped(form)
    void this.#startAddress(typed !== null)
    this.#show()
  }

  stop(): void {
    this.#stop.abort()
    clearTimeout(this.#quoteTimer)
  }

  async #startAddress(isFilledIn: boolean): Promise<void> {
    const part = document.getElementById('address')
    const country = this.#field('country')
    if (!part?.dataset.script || !(country instanceof HTMLSelectElement)) return
    try {
      const { exchangeFields, foldAddress }: typeof AddressScript = await import(part.dataset.script)
      exchangeFields(part, country, this.#offer.terms.delivery, this.#offer.words.address)
      foldAddress(part, country, isFilledIn)
      this.#show()
    } catch {
      // The form keeps the fields of all countries, and the server says what is missing.
    }
  }

  // -- What was said ------------------------------------------------------------------------------------------------

  #field = (name: string) => this.#form.elements.namedItem(name) as Field | RadioNodeList | null
  #value = (name: string) => this.#field(name)?.value ?? ''
  #code = () => this.#value('promo_code').trim()
  #minor = (amount: number) => money(this.#lang, amount, this.#offer.currency)

  #said() {
    const fields = Object.fromEntries(new FormData(this.#form)) as Record<string, string>
    const seats = [...this.#form.querySelectorAll<HTMLInputElement>('input[data-seat-price]')]
    const ofSeats = (value: (seat: HTMLInputElement) => unknown) =>
      Object.fromEntries(seats.map((seat) => [seat.name, value(seat)]))
    const prices = ofSeats(({ dataset }) => Number(dataset.seatPrice)) as Record<string, number>
    return { fields, prices, names: ofSeats(({ dataset }) => dataset.name) as Record<string, string> }
  }

  #onInput(field: Field): void {
    this.#touched = field.name
    if (field.name.startsWith('size:')) {
      countSize(field as HTMLInputElement)
      this.#touched = field.name.replace('size:', 'count:')
    }
    if (field.name === 'promo_code') this.#quoted = null
    if (field.getAttribute('aria-invalid')) this.#check(field)
    keepTyped(this.#form)
    this.#show()
    if (this.#code() !== '' && field.name !== 'promo_code') this.#quoteSoon()
  }

  /** The map has changed its seats. */
  #onChoice(): void {
    keepTyped(this.#form)
    this.#show()
  }

  #onClick(event: Event): void {
    const button = (event.target as Element).closest('button')
    if (!button) return
    const step = Number(button.dataset.step)
    if (step) this.#step(step, button)
    if (button.name === 'hall' || button.name === 'remove') this.#sendWith(button)
    if (button.name !== 'apply' && button.name !== 'again') return
    event.preventDefault()
    if (button.name === 'apply') return void this.#quote()
    addLine(button)
    this.#show()
  }

  /** The page's script sends a form's fields, and no button. */
  #sendWith({ name, value }: HTMLButtonElement): void {
    const field = element('input', { type: 'hidden', name, value })
    this.#form.append(field)
    setTimeout(() => field.remove())
  }

  #step(by: number, button: HTMLElement): void {
    const field = button.closest('.stepper')?.querySelector('input')
    if (!field) return
    const least = Number(field.min)
    field.value = String(Math.min(Number(field.dataset.most), Math.max(least, (Number(field.value) || least) + by)))
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }

  // -- The sum ------------------------------------------------------------------------------------------------------

  #show(): void {
    const { fields } = this.#said()
    const unit = this.#offer.units.find(({ product_id }) => product_id === fields.product_id)
    if (this.#offer.cart) showBounds(this.#form, fields, this.#offer, this.#lang, this.#touched)
    else this.#bound(unit)
    this.#requireTerms()
    const sum = this.#sum()
    this.#requireChoice(sum)
    this.#checkCountry(sum)
    this.#showSum(sum)
    this.#showDays()
    this.#showBar(sum)
  }

  /** The terms must be accepted if a chosen product has some. */
  #requireTerms(): void {
    const accept = this.#field('accept') as HTMLInputElement | null
    const { lines } = this.#choice()
    if (!accept || lines.length === 0) return
    accept.required = this.#offer.units.some(
      ({ product_id, has_terms }) => has_terms && lines.some(({ product }) => product === product_id),
    )
  }

  /** A cart without a choice is an error of its first line. */
  #requireChoice({ kind }: Sum): void {
    const { cart } = this.#offer
    const first = cart && firstChoice(this.#form)
    if (!first) return
    const fault = kind === 'none' ? cart.nothing : ''
    if (fault === first.validationMessage || (fault === '' && first.validationMessage !== cart.nothing)) return
    first.setCustomValidity(fault)
    if (fault === '') this.#check(first)
  }

  /**
   * A country without delivery is an error of that field. The server's message about it stays until another country
   * is chosen.
   */
  #checkCountry({ kind }: Sum): void {
    const field = this.#field('country')
    if (!(field instanceof HTMLSelectElement)) return
    const { countryWrong, tooHeavy } = this.#offer.words
    const { countries } = this.#offer.terms.delivery
    const isAway = kind === 'away' && field.value !== ''
    const fault = isAway ? (countries && !countries.includes(field.value) ? countryWrong : tooHeavy) : ''
    if (fault === field.validationMessage || (fault === '' && !field.validity.customError)) return
    field.setCustomValidity(fault)
    this.#check(field)
  }

  /** The total: the server's if there is a promo code, otherwise the page's own calculation. */
  #sum(): Sum {
    if (this.#quoted?.of === this.#key()) {
      const { totals } = this.#quoted
      return { kind: totals.needs_country ? 'from' : 'exact', totals }
    }
    return sumOf(this.#choice(), this.#offer, this.#value('country'))
  }

  #choice = () => choiceIn(this.#said(), this.#offer.units)

  #showSum(sum: Sum): void {
    const hasTotals = sum.kind === 'exact' || sum.kind === 'from'
    const rows = document.getElementById('sum-rows')
    const { cart } = this.#offer
    const { lines } = this.#choice()
    if (hasTotals) rows?.replaceChildren(rowsOf(sum, lines, this.#offer, this.#lang, this.#code()))
    else
      rows?.replaceChildren(
        ...(cart && sum.kind === 'none' ? [element('p', { class: 'quiet' }, cart.nothingText)] : []),
      )
    const shown = this.#field('total_minor') as HTMLInputElement | null
    // The total changes with a promo code that has not been checked yet.
    const isKnown = sum.kind === 'exact' && (this.#code() === '' || this.#quoted?.of === this.#key())
    if (shown) shown.value = isKnown ? String(sum.totals.total_minor) : ''
  }

  #showDays(): void {
    const { terms, currency, words } = this.#offer
    const texts = { lang: this.#lang, currency, inDays: words.inDays, free: words.free }
    write('delivery-days', daysText(this.#choice(), terms.delivery, this.#value('country'), texts))
  }

  /**
   * Limits the number of units. The remaining stock may have changed, so beyond the limit only the buttons are
   * disabled.
   */
  #bound(unit: Offer['units'][number] | undefined): void {
    const field = this.#field('quantity')
    if (!(field instanceof HTMLInputElement)) return
    const { limit } = this.#offer
    if (unit) field.max = String(Math.min(limit, unit.limit ?? limit))
    const most = Math.min(Number(field.max), Math.max(1, unit?.available ?? limit))
    field.dataset.most = String(most)
    const quantity = Number(field.value)
    for (const button of this.#form.querySelectorAll<HTMLButtonElement>('[data-step]'))
      button.disabled = Number(button.dataset.step) < 0 ? quantity <= 1 : quantity >= most
  }

  #showBar(sum: Sum): void {
    const { words } = this.#offer
    const missing = this.#missing(sum)
    const name = this.#chosenText()
    const total = sum.kind === 'exact' || sum.kind === 'from' ? this.#minor(sum.totals.total_minor) : ''
    write('chosen', missing === '' ? name : '')
    write('bar-sum', missing || (sum.kind === 'from' ? fill(words.from, { m: total }) : total))
  }

  #chosenText(): string {
    const { cart } = this.#offer
    if (cart) {
      const units = this.#choice().lines.reduce((sum, { quantity }) => sum + quantity, 0)
      return units > 0 ? fill(cart.items, { n: count(this.#lang, units) }) : ''
    }
    const chosen = this.#form.querySelector<HTMLInputElement>('[name=product_id]:checked')
    return chosen ? withQuantity(chosen.dataset.name ?? '', Number(this.#value('quantity')) || 1, this.#lang) : ''
  }

  /** The buyer's next step: to choose, and after an attempt to reserve, to fill in the remaining fields. */
  #missing({ kind }: Sum): string {
    const { words, cart } = this.#offer
    if (cart && kind === 'none') return cart.nothing
    const choices = this.#form.querySelectorAll<HTMLInputElement>('[type=radio][name=product_id]')
    if (choices.length > 0 && ![...choices].some(({ checked }) => checked)) {
      const option = choices[0]?.closest<HTMLElement>('[data-option]')?.dataset.option
      return fill(words.choose, { what: option ?? '' })
    }
    const field = this.#form.querySelector<Field>(this.#wasSent ? WRONG : '[aria-invalid=true]')
    if (!field) return ''
    const what = field.type === 'checkbox' ? words.terms : labelOf(field)
    return fill(field.validity.valueMissing ? words.stillNeeded : words.address.check, { what })
  }

  // -- What is wrong ------------------------------------------------------------------------------------------------

  /** The browser says which fields are invalid. The page shows the reason next to each, and focuses the first. */
  #onInvalid(event: Event): void {
    event.preventDefault()
    const field = event.target as Field
    this.#wasSent = true
    const folded = field.closest<HTMLDetailsElement>('details:not([open])')
    if (folded) folded.open = true
    this.#check(field)
    if (!this.#isFirst) return
    this.#isFirst = false
    field.focus()
    queueMicrotask(() => this.#show())
    setTimeout(() => {
      this.#isFirst = true
    })
  }

  #press(isPressed: boolean): void {
    this.#isPressed = isPressed
  }

  /**
   * The check waits until nothing is pressed, because a message that appears would move a button away from under the
   * finger.
   */
  #checkAfterPress(field: Field): void {
    const { signal } = this.#stop
    const check = () => this.#check(field)
    if (this.#isPressed) document.addEventListener('pointerup', () => setTimeout(check), { once: true, signal })
    else check()
  }

  #check(field: Field): void {
    if (!field.name || field.name === 'promo_code') return
    const option = field.closest<HTMLElement>('[data-option]')?.dataset.option
    say(field, messageOf(field, this.#offer, option, this.#lang))
  }

  // -- The promo code -----------------------------------------------------------------------------------------------

  /** A key of all values on which a quote depends. */
  #key(): string {
    const { fields } = this.#said()
    return JSON.stringify(Object.entries(fields).filter(([name]) => !WITHOUT_PRICE.has(name)))
  }

  #quoteSoon(): void {
    clearTimeout(this.#quoteTimer)
    this.#quoteTimer = setTimeout(() => void this.#quote(), QUOTE_AFTER_MS)
  }

  async #quote(): Promise<void> {
    clearTimeout(this.#quoteTimer)
    const field = this.#field('promo_code') as HTMLInputElement | null
    const applied = document.getElementById('code-applied')
    if (!field || !applied) return
    const of = this.#key()
    this.#quoted = null
    say(field, '')
    write('code-applied', '')
    const isChosen = this.#choice().lines.length > 0
    if (this.#code() === '' || !isChosen) return this.#show()
    const body = new URLSearchParams(new FormData(this.#form) as unknown as URLSearchParams)
    body.set('apply', '1')
    try {
      const headers = { accept: 'application/json' }
      const signal = AbortSignal.timeout(QUOTE_WITHIN_MS)
      const response = await fetch(this.#form.action, { method: 'POST', headers, body, signal })
      const answer = (await response.json()) as Quote & Partial<Problem>
      if (of !== this.#key()) return
      if (response.ok) this.#quoted = { of, totals: answer }
      this.#sayCode(field, answer, applied.dataset)
    } catch {
      // The server checks the code again when the form is sent.
    }
    this.#show()
  }

  /** Shows what the code takes off, or why it is not valid. */
  #sayCode(
    field: HTMLInputElement,
    { type, promo_codes = [], discount_minor }: Quote & Partial<Problem>,
    texts: DOMStringMap,
  ): void {
    const refused = promo_codes.find(({ holds }) => !holds)
    const isUsedUp = refused?.reason === 'used_up' || type?.endsWith('/promo-code-used-up')
    const isUnknown = refused || type?.endsWith('/promo-code-unknown')
    say(field, (isUsedUp ? texts.usedUp : isUnknown ? texts.unknown : '') ?? '')
    if (discount_minor > 0 && !refused)
      write('code-applied', fill(texts.applied ?? '', { m: this.#minor(discount_minor) }))
  }
}

/** The text of a field's label, without the field's error. */
const labelOf = (field: Field) => field.labels?.[0]?.firstChild?.textContent?.trim() || field.name

function write(id: string, text: string): void {
  const element = document.getElementById(id)
  if (element && element.textContent !== text) element.textContent = text
}
