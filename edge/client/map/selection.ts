/**
 * The seats that a visitor has chosen, and those that the shop offers. An offer is part of the selection, but held for
 * nobody: if another visitor takes a seat of it, the next best follows.
 */
import type { SeatOfferRequest } from '../../../shared/api/hall.ts'
import type { Hall, Seat } from '../../../shared/hall/hall-model.ts'
import { loadTyped } from '../turn-form/typed.ts'
import { stillFree, toggleSeat, unitsIn } from './choice.ts'
import { fetchOffer, wishIn } from './offer.ts'
import type { Names } from './parts.ts'
import { fieldOf, unitsOf } from './picked.ts'

interface SelectionOf {
  readonly hall: Hall
  /** The path of the sale. */
  readonly sale: string
  readonly names: Names
  readonly form: HTMLFormElement | null
  /** The number of units that one person may have. */
  readonly limit: number
  readonly signal: AbortSignal
  readonly onChange: () => void
  readonly onOffer: (seats: readonly Seat[]) => void
  readonly warn: (text: string) => void
}

export class Selection {
  readonly #of: SelectionOf
  #seats: readonly Seat[] = []
  #offered: readonly Seat[] = []
  #wish: SeatOfferRequest | null = null
  /** The seats of all offers for the current wish. */
  #offeredBefore: readonly Seat[] = []

  constructor(of: SelectionOf) {
    this.#of = of
    const { signal } = of
    const best = document.getElementById('best')
    best?.querySelector('[name=find]')?.addEventListener('click', (event) => this.#onFind(event), { signal })
    // Enter in a field would otherwise send the form.
    const onEnter = (event: KeyboardEvent) => {
      if (event.key === 'Enter' && event.target instanceof HTMLInputElement) this.#onFind(event)
    }
    best?.addEventListener('keydown', onEnter, { signal })
  }

  get seats(): readonly Seat[] {
    return this.#seats
  }

  /** These of the seats are offered. */
  get offered(): readonly Seat[] {
    return this.#offered
  }

  /**
   * Takes the seats that the page contains: those of a form that met a problem, those that replace taken ones, or an
   * offer. A page that was loaded again has those that this tab has kept. `before` are those that were chosen before
   * the hall was imported again.
   */
  take(before: readonly Seat[]): void {
    const { hall, form } = this.#of
    const came = document.getElementById('chosen-seats')
    const names = [...(came?.querySelectorAll<HTMLInputElement>('input:checked') ?? [])].map(({ name }) => name)
    const offered = came?.querySelector<HTMLInputElement>('[name=offered]')?.value.split(' ') ?? []
    came?.remove()
    if (!came && form) names.push(...Object.keys(loadTyped(form) ?? {}))
    names.push(...before.map(fieldOf))
    this.#seats = hall.seats.filter((seat) => names.includes(fieldOf(seat)))
    this.#offered = this.#seats.filter((seat) => offered.includes(fieldOf(seat)))
    this.#offeredBefore = hall.seats.filter((seat) => offered.includes(fieldOf(seat)))
    this.#wish = form && wishIn(form)
  }

  /** Names chosen seats that the hall no longer has, and asks for as many others of their section. */
  replaceRemoved(before: readonly Seat[]): void {
    const fields = new Set(this.#seats.map(fieldOf))
    const removed = before.filter((seat) => !fields.has(fieldOf(seat)))
    const [first] = removed
    if (!first) return
    const { id } = first.section
    const isThere = this.#of.hall.sections.some((section) => section.id === id && section.seats.length > 0)
    void this.#find({ quantity: removed.length, ...(isThere && { section_id: id }) }, removed)
  }

  /** Chooses a seat, or takes it out. Returns false, and warns, if no more may be chosen. */
  toggle(seat: Seat): boolean {
    const { names, limit, onChange, warn } = this.#of
    const next = toggleSeat(this.#seats, seat, limit - this.#seats.length - unitsIn(unitsOf(this.#of.form)))
    // A press on a seat makes the rest of an offer a choice of the visitor.
    this.#offered = []
    if (next) this.#seats = next
    else warn(names.fill('perVisitorTogether', { n: names.count(limit) }))
    onChange()
    return next !== null
  }

  /** Takes out seats that another visitor has now, as far as the states of their sections are known. */
  leaveTaken(isKnown: (seat: Seat) => boolean, states: Uint8Array): void {
    const { names, onChange, warn } = this.#of
    const { chosen, gone } = stillFree(this.#seats.filter(isKnown), states)
    if (gone.length === 0) return
    const hadOffer = gone.some((seat) => this.#offered.includes(seat))
    this.#seats = [...this.#seats.filter((seat) => !isKnown(seat)), ...chosen]
    this.#offered = this.#offered.filter((seat) => this.#seats.includes(seat))
    warn(names.fill('gone', { seats: names.all(gone.map(names.whole)) }))
    onChange()
    if (hadOffer && this.#wish) void this.#find(this.#wish, gone)
  }

  // -- Offers -------------------------------------------------------------------------------------------------------

  findAnother(): void {
    if (this.#wish) void this.#find(this.#wish)
  }

  #onFind(event: Event): void {
    event.preventDefault()
    const { form } = this.#of
    const wish = form && wishIn(form)
    this.#offeredBefore = []
    if (wish) void this.#find(wish)
    else form?.querySelector<HTMLElement>('[name=best-quantity]')?.focus()
  }

  /** Shows the seats that the shop would choose now instead of those that it offered. `gone` are named first. */
  async #find(wish: SeatOfferRequest, gone: readonly Seat[] = []): Promise<void> {
    const { hall, sale, names, form, limit, signal, warn } = this.#of
    const { fill, all, whole, texts, count } = names
    const own = this.#seats.filter((seat) => !this.#offered.includes(seat))
    const lost = (name: string) => (gone.length > 0 ? `${fill(name, { seats: all(gone.map(whole)) })} ` : '')
    if (wish.quantity > limit - own.length - unitsIn(unitsOf(form)))
      return warn(`${lost('gone')}${fill('perVisitorTogether', { n: count(limit) })}`)
    try {
      const seats = await fetchOffer(sale, hall, wish, [...own, ...this.#offeredBefore])
      if (signal.aborted) return
      if (!seats) return warn(`${lost('gone')}${texts.fewer}`)
      this.#wish = wish
      this.#offered = seats
      this.#offeredBefore = [...this.#offeredBefore, ...seats]
      this.#seats = [...own, ...seats]
      this.#show(lost('follows'))
    } catch {
      warn(`${lost('gone')}${texts.tryAgain}`)
    }
  }

  #show(lost: string): void {
    const { names, onChange, onOffer, warn } = this.#of
    const { all, whole, texts } = names
    const best = document.getElementById('best') as HTMLDetailsElement | null
    if (best) best.open = false
    onChange()
    onOffer(this.#offered)
    warn(`${lost}${texts.wouldTake}: ${all(this.#offered.map(whole))}. ${texts.notHeld}`)
    // What others take does not move the focus.
    if (lost === '') document.querySelector<HTMLElement>('#cart-choice h2')?.focus()
  }
}
