/**
 * Small parts of the map's page: elements, the names of seats, and a list of seats with the same content as the map.
 */
import { comma, count, fill, listed, money } from '../../../shared/format.ts'
import { FREE, type Hall, type Seat, type Section } from '../../../shared/hall/hall-model.ts'
import { fits } from './choice.ts'

export type Texts = Readonly<Record<string, string | undefined>>

/** Makes an element with attributes and content. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string | boolean>> = {},
  ...content: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes))
    if (value === true) made.setAttribute(name, '')
    else if (value !== false) made.setAttribute(name, value)
  made.append(...content)
  return made
}

/** Names the hall's seats and sections in the visitor's language. */
export class Names {
  readonly texts: Texts
  readonly #lang: string
  readonly #currency: string

  constructor(texts: Texts, lang: string, currency: string) {
    this.texts = texts
    this.#lang = lang
    this.#currency = currency
  }

  fill = (name: string, values: Readonly<Record<string, string>>) => fill(this.texts[name] ?? '', values)
  money = (minor: number) => money(this.#lang, minor, this.#currency)
  count = (value: number) => count(this.#lang, value)
  listed = (names: readonly string[]) => listed(this.#lang, names)
  all = (names: readonly string[]) => new Intl.ListFormat(this.#lang, { type: 'unit' }).format(names)

  /** Returns for example "Row F, seat 7". */
  seat = ({ row, number }: Seat) => this.fill('seat', { row, seat: number })
  /** Returns for example "Stalls B, row F, seat 7". */
  whole = (seat: Seat) => this.listed([this.section(seat), this.seat(seat)])
  section = ({ section }: Seat) => section.name
  /** The same as an element, which isolates names in other scripts. */
  shown = (seat: Seat) =>
    element('span', {}, element('bdi', {}, this.section(seat)), comma(this.#lang), element('bdi', {}, this.seat(seat)))

  /** The name with the price and kind of the seat, and whether it is taken. */
  described(seat: Seat, states: Uint8Array): string {
    const kind = this.kind(seat)
    const state = states[seat.index] === FREE ? this.money(seat.price_minor) : (this.texts.occupied ?? '')
    return this.listed([this.whole(seat), state, ...(kind ? [kind] : [])])
  }

  kind({ kind }: Seat): string | undefined {
    const { wheelchair, companion, restrictedView } = this.texts
    return { standard: undefined, accessible: wheelchair, companion, restricted_view: restrictedView }[kind]
  }

  left = (free: number | undefined) =>
    free === undefined ? '' : free === 0 ? (this.texts.noneLeft ?? '') : this.fill('left', { n: this.count(free) })
}

export interface ListOf {
  readonly hall: Hall
  readonly names: Names
  readonly states: () => Uint8Array
  readonly counts: ReadonlyMap<string, number>
  readonly isChosen: (seat: Seat) => boolean
  readonly filter: () => Parameters<typeof fits>[1]
  /** Chooses a seat, or removes it from the choice. */
  readonly onPress: (seat: Seat) => void
  readonly onOpen: () => void
}

/**
 * The hall as a list of sections, rows and seats. The seats of a section are created when it is opened, and removed
 * when it is closed.
 */
export class SeatList {
  readonly element: HTMLElement
  readonly #of: ListOf
  readonly #sections: readonly { section: Section; details: HTMLDetailsElement; count: HTMLElement }[]

  constructor(of: ListOf) {
    this.#of = of
    const sections = of.hall.sections.filter(({ seats }) => seats.length > 0)
    this.#sections = sections.map((section) => {
      const count = element('small')
      const details = element('details', {}, element('summary', {}, `${section.name} `, count))
      details.addEventListener('toggle', () => {
        if (details.open) of.onOpen()
        this.#fill(section, details)
      })
      return { section, details, count }
    })
    this.element = element('div', { class: 'hall-list' }, ...this.#sections.map(({ details }) => details))
    this.update()
  }

  /** The sections whose seats are shown. */
  open = (): Section[] => this.#sections.filter(({ details }) => details.open).map(({ section }) => section)

  /**
   * Updates the list after a change of the choice, the filter or the states. `changed` limits it to the states of
   * this section.
   */
  update(changed?: Section): void {
    for (const { section, details, count } of this.#sections) {
      count.textContent = this.#of.names.left(this.#of.counts.get(section.id))
      if (details.open && (!changed || changed === section)) this.#fill(section, details)
    }
  }

  /** Shows the free and the chosen seats. The focus stays on its seat. */
  #fill(section: Section, details: HTMLDetailsElement): void {
    const focused = (document.activeElement as HTMLElement | null)?.dataset.seat
    details.querySelector('.hall-rows')?.remove()
    if (!details.open) return
    const { names, isChosen, onPress, filter } = this.#of
    const states = this.#of.states()
    const isShown = (seat: Seat) => isChosen(seat) || (states[seat.index] === FREE && fits(seat, filter()))
    const rows = [...Map.groupBy(section.seats.filter(isShown), ({ row }) => row)].map(([row, seats]) => {
      const boxes = seats.map((seat) => {
        const name = names.listed(
          [names.seat(seat), names.money(seat.price_minor), names.kind(seat) ?? ''].filter(Boolean),
        )
        const box = element('input', { type: 'checkbox', 'aria-label': name, 'data-seat': String(seat.index) })
        box.checked = isChosen(seat)
        box.addEventListener('change', () => onPress(seat))
        return element('label', {}, box, element('span', { 'aria-hidden': 'true' }, seat.number))
      })
      return element(
        'fieldset',
        {},
        element('legend', {}, names.fill('row', { row })),
        element('div', { class: 'sizes' }, ...boxes),
      )
    })
    details.append(element('div', { class: 'hall-rows', dir: 'ltr' }, ...rows))
    if (focused !== undefined) details.querySelector<HTMLElement>(`[data-seat="${focused}"]`)?.focus()
  }
}
