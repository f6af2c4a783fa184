/** The seats of a choice by name: their lines in a cart, the notice of taken ones, and their part of the sum. */
import { fill, listed, money } from '../../../../shared/format.ts'
import type { Fields } from '../../../../shared/parse.ts'
import { type Html, html, icon } from '../../html.ts'
import { currencyOf } from '../../parts/offer.ts'
import type { Entered, PageContext, Refused, SeatFacts } from '../../view.ts'
import type { Words } from '../../words/words.ts'
import { type NamedSeat, REMOVE, seatField, seatsIn, TO_HALL } from '../cart-fields.ts'
import type { Said } from './priced-lines.ts'
import { seatsInstead, takenIn } from './rest.ts'

/**
 * The name of a seat by section and seat: "Stalls B" and "Row F, seat 7". If the chart is unknown, it is the seat's
 * id.
 */
export function namesOf({ view, words }: PageContext, { section, seat }: NamedSeat): [section: string, seat: string] {
  const name = view.state.products.find(({ product_id }) => product_id === section)?.name ?? section
  const facts = view.hall?.seat(section, seat)
  return [name, facts ? seatName(words, facts) : seat]
}

/** Returns for example "Row F, seat 7". */
export const seatName = (words: Words, { row, number }: Pick<SeatFacts, 'row' | 'number'>) =>
  fill(words.hall.seat, { row, seat: number })

export function takenNotice(context: PageContext, { problem, chosen }: Refused): Html {
  const { hall } = context.words
  const gone = takenIn(problem)
  const names = seatsIn(chosen).flatMap((named) =>
    gone.includes(named.seat) ? listed(context.lang, namesOf(context, named)) : [],
  )
  const seats = new Intl.ListFormat(context.lang, { type: 'unit' }).format(names)
  return html`<div class="taken" role="alert"><p class="fault"><b>${fill(hall.taken, { seats })}</b></p>
      <p>${seatsInstead(problem).length > 0 ? hall.offer : hall.noOffer}</p></div>`
}

// -- In the sum -----------------------------------------------------------------------------------------------------

/** The price of a seat; while the chart cannot be read, the lowest of its section. */
function priceOf({ view }: PageContext, { section, seat }: NamedSeat): number {
  const product = view.state.products.find(({ product_id }) => product_id === section)
  return view.hall?.seat(section, seat)?.price_minor ?? product?.unit_price_minor ?? 0
}

/** The form's values, with the names and prices of its seats. */
export function saidIn(context: PageContext, fields: Fields): Said {
  const seats = seatsIn(fields).map((named) => [seatField(named.section, named.seat), named] as const)
  return {
    fields,
    prices: Object.fromEntries(seats.map(([field, named]) => [field, priceOf(context, named)])),
    names: Object.fromEntries(seats.map(([field, named]) => [field, listed(context.lang, namesOf(context, named))])),
  }
}

// -- In the cart ----------------------------------------------------------------------------------------------------

/** A line for each seat, and the way to the hall. Nothing if the hall has no seats by name. */
export function seatLines(context: PageContext, { chosen }: Entered): Html | false {
  const { view, words, lang } = context
  const { hall } = words
  const sections = view.state.products.filter(({ section_type }) => section_type === 'reserved')
  if (sections.length === 0) return false
  const seats = seatsIn(chosen)
  const currency = currencyOf(view.state)
  const toHall = (look: string, text: string) =>
    html`<button class="${look}" name="${TO_HALL}" value="1" formnovalidate>${text}</button>`
  if (seats.length === 0) {
    const least = Math.min(...sections.map(({ unit_price_minor }) => unit_price_minor))
    const names = sections.map(({ name }) => name)
    return html`<li><div class="what"><h3>${hall.aSeat}</h3><p class="small quiet"><bdi>${new Intl.ListFormat(lang, {
      ...({ type: 'unit', style: 'short' } as const),
    }).format(names)}</bdi></p></div>
      <div class="take"><span>${fill(hall.from, { m: money(lang, least, currency) })}</span>${toHall(
        'button second',
        words.stepChoose,
      )}</div></li>`
  }
  return html`${seats.map((named, index) => {
    const [section, seat] = namesOf(context, named)
    const price = priceOf(context, named)
    const field = seatField(named.section, named.seat)
    const name = listed(lang, [section, seat])
    return html`<li><div class="what"><h3><bdi>${seat}</bdi></h3><p class="small quiet"><bdi>${section}</bdi></p></div>
      <div class="take"><span>${money(lang, price, currency)}</span><input type="hidden" name="${field}" value="1"
        data-seat-price="${price}" data-name="${name}"><button class="icon-button" name="${REMOVE}"
        value="${field}" formnovalidate aria-label="${fill(hall.remove, { seat: name })}">${icon(
          'cross',
        )}</button></div>${
          index === seats.length - 1 && html`<p class="more">${toHall('link small', hall.otherSeats)}</p>`
        }</li>`
  })}`
}
