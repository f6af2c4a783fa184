/**
 * The form of a hall: the best seats, and standing places. Without a script it is a plain form. The map, which a script
 * adds, writes the chosen seats into the same form. If the sale has more than seats, the form leads to the cart.
 */
import { Gone, type PublicProduct, type PublicSale, type SeatKind } from '../../../shared/api/public.ts'
import { comma, count, fill, money } from '../../../shared/format.ts'
import { tryParse } from '../../../shared/parse.ts'
import { hallStyle, mapScript } from '../assets.ts'
import { type Html, html, postForm, TURN_FORM, texts } from '../html.ts'
import { faultOf } from '../parts/fault.ts'
import type { Entered, PageContext } from '../view.ts'
import { namesOf, takenNotice } from './cart/cart-seats.ts'
import { isTaken, seatsLeft } from './cart/rest.ts'
import {
  ANOTHER,
  FIND,
  keptInHall,
  linesIn,
  OFFERED,
  offeredIn,
  type Part,
  partOf,
  seatField,
  seatsIn,
  TAKE,
  unitsField,
  wishIn,
} from './cart-fields.ts'
import { checkoutFields, toCart } from './checkout-fields.ts'
import { checkoutFaults, describes, type Faults, faultBeside, limitText } from './faults.ts'

/**
 * The first script recognises by a field of this name that the turn has something to choose. The empty value chooses
 * nothing.
 */
const SOMETHING_TO_CHOOSE = html`<input type="hidden" name="product_id" value="">`

/** The first button of a form is pressed by Enter in any field. It must not be the one that finds the best seats. */
const RESERVED_BY_ENTER = html`<button hidden></button>`

export const hasSections = ({ products }: Pick<PublicSale, 'products'>) =>
  products.some(({ section_type }) => section_type)

/** A hall with more than seats leads to a cart. Its other products and standing places are chosen there. */
export const leadsToCart = ({ products }: Pick<PublicSale, 'products'>) =>
  new Set(products.map(({ section_type }) => section_type === 'reserved')).size > 1

export function hallForm(context: PageContext, untilMs: number, entered: Entered): Html {
  const { view, words } = context
  const { chosen, problem } = entered
  const faults = cartFaults(context, entered)
  const { products } = view.state
  const reserved = products.filter(({ section_type }) => section_type === 'reserved')
  const others = products.filter(({ section_type }) => section_type !== 'reserved')
  const isSeatTaken = problem !== undefined && isTaken(problem)
  const isBeforeCart = leadsToCart(view.state)
  const map = mapPlace(context)
  // The style sheet is linked here, because a page may be shown before its end has loaded.
  const left = html`${problem && isSeatTaken && takenNotice(context, { chosen, problem })}
    <div class="row tools${map && ' beside'}"><div class="tabs" id="hall-tabs" role="group" hidden></div>${
      reserved.length > 0 && bestSeats(context, reserved, entered, faults)
    }</div>
    ${map}
    ${chosenSeats(context, entered)}
    ${faultBeside(faults, 'seats')}`
  const picked = chosenPlace(context, entered)
  const right = html`${
    isBeforeCart
      ? alsoForSale(context, others)
      : others.length > 0 &&
        html`<fieldset class="part"><legend>${words.product}</legend><div class="choices">${others.map((product) =>
          unitsOf(context, product, entered, faults),
        )}</div></fieldset>`
  }
    ${faultBeside(faults, 'cart')}
    ${
      problem &&
      Object.keys(faults).length === 0 &&
      !isSeatTaken &&
      view.schedule.phase !== 'paused' &&
      faultOf(problem, words)
    }
    ${
      isBeforeCart
        ? html`${keptFields(entered)}${toCart(context, { untilMs, picked, isChosen: seatsIn(chosen).length > 0 })}`
        : checkoutFields(context, entered, faults, { untilMs, picked })
    }`
  return postForm(
    `/sales/${view.sale}/buy`,
    html`
    <link rel="stylesheet" href="${hallStyle.path}">
    ${RESERVED_BY_ENTER}${SOMETHING_TO_CHOOSE}
    <div class="page map split"><div>${left}</div><div>${right}</div></div>
  `,
    TURN_FORM,
  )
}

/** What the cart has in addition to the seats. */
function alsoForSale({ words, lang }: PageContext, others: readonly PublicProduct[]): Html {
  const products = others.filter(({ variant_of }) => !variant_of)
  const priceOf = ({ product_id, unit_price_minor, currency }: PublicProduct) => {
    const units = others.filter(({ variant_of }) => variant_of === product_id)
    const prices = units.length > 0 ? units.map((unit) => unit.unit_price_minor) : [unit_price_minor]
    const price = money(lang, Math.min(...prices), currency)
    return new Set(prices).size > 1 ? fill(words.hall.from, { m: price }) : price
  }
  return html`<section class="part"><h2>${words.hall.others}</h2><dl class="rows">${products.map(
    (product) => html`<div><dt><bdi>${product.name}</bdi></dt><dd>${priceOf(product)}</dd></div>`,
  )}</dl></section>`
}

/**
 * The fields of the cart, for the way back. The map reads the number of units in it from a field without a name, which
 * is not sent.
 */
function keptFields({ chosen }: Entered): Html {
  const kept = keptInHall(chosen)
  const units = linesIn(Object.fromEntries(kept)).reduce((sum, { line }) => sum + (line.quantity ?? 0), 0)
  return html`<input type="hidden" name="${TAKE}" value="1">${kept.map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}${units > 0 && html`<input type="hidden" value="${units}" data-price="0">`}`
}

/** The place for what is chosen, which the map fills. Its text is there from the first, so that nothing moves. */
const chosenPlace = ({ view, words }: PageContext, { chosen }: Entered): Html =>
  html`<div id="cart-choice">${
    linesIn(chosen).length === 0 && html`<p class="small quiet">${nothingText({ view, words })}</p>`
  }</div>`

/** The element in which the script draws the map, with the data for it: the hall's version, and texts. */
function mapPlace({ view, words }: PageContext): Html | false {
  const { chart_version, limit_per_visitor, products } = view.state
  if (chart_version === null) return false
  const currency = products.find(({ section_type }) => section_type)?.currency ?? ''
  const { left, noneLeft, perVisitorTogether } = words
  return html`<div class="hall" id="hall" data-script="${mapScript.path}"
    data-version="${chart_version}" data-limit="${limit_per_visitor}" data-currency="${currency}"
    ${texts({
      ...words.hall,
      chooseFirst: nothingText({ view, words }),
      hallTab: words.checkout.hallTab,
      listTab: words.checkout.listTab,
      left,
      noneLeft,
      perVisitorTogether,
      tryAgain: words.problems['try-again'][1],
    })}></div>`
}

// -- Seats by name --------------------------------------------------------------------------------------------------

/**
 * The chosen seats of the form, or the offered ones: one press takes them all, and each can be left out. Seats that
 * the shop would choose are held for nobody yet, and another offer is one press away.
 */
function chosenSeats(context: PageContext, { problem, chosen }: Entered): Html | false {
  const { view, words, lang } = context
  const { hall } = words
  const seats = problem && isTaken(problem) ? seatsLeft(problem, chosen) : seatsIn(chosen)
  if (seats.length === 0) return false
  const offered = offeredIn(chosen)
  const isOffer = seats.some(({ section, seat }) => offered.includes(seatField(section, seat)))
  const choices = seats.map((named) => {
    const [section, seat] = namesOf(context, named)
    const price = view.hall?.seat(named.section, named.seat)?.price_minor
    const product = view.state.products.find(({ product_id }) => product_id === named.section)
    return html`<label class="choice">
      <input type="checkbox" name="${seatField(named.section, named.seat)}" value="1" checked>
      <span><bdi>${section}</bdi>${comma(lang)}<bdi>${seat}</bdi></span>
      ${price !== undefined && html`<b>${money(lang, price, product?.currency ?? '')}</b>`}</label>`
  })
  return html`<fieldset class="part" id="chosen-seats"><legend>${
    isOffer ? hall.wouldTake : hall.yourSeats
  }</legend><div class="choices">${choices}</div>${
    isOffer &&
    html`<p class="small quiet">${hall.notHeld}</p><input type="hidden" name="${OFFERED}" value="${offered.join(' ')}">
      <noscript><button class="button second" name="${FIND}" value="${ANOTHER}" formnovalidate>${
        hall.another
      }</button></noscript>`
  }</fieldset>`
}

// -- The best seats, places and products ----------------------------------------------------------------------------

/**
 * The shop chooses these seats, and shows them before they are reserved. A script folds this part if it shows the map.
 */
function bestSeats(
  context: PageContext,
  sections: readonly PublicProduct[],
  { chosen }: Entered,
  faults: Faults,
): Html {
  const { view, words, lang } = context
  const { hall } = words
  const currency = sections[0]?.currency ?? ''
  const free = sections.reduce((seats, { available }) => seats + available, 0)
  const option = (value: string, isChosen: boolean, text: string) =>
    html`<option value="${value}" ${isChosen && html`selected`}>${text}</option>`
  const names = sections.map(({ product_id, name, available }) => {
    const left = available === 0 ? words.noneLeft : fill(words.left, { n: count(lang, available) })
    return option(product_id, chosen['best-section'] === product_id, `${name} (${left})`)
  })
  const prices = categoryNames(context, currency).map(([category, name]) =>
    option(category, chosen['best-category'] === category, name),
  )
  const kinds = kindsOf(context).map(
    ([kind, name]) =>
      html`<label><input class="sr" type="radio" name="best-kind" value="${kind}" ${
        (chosen['best-kind'] ?? '') === kind && html`checked`
      }><span>${name}</span></label>`,
  )
  const most = Math.min(view.state.limit_per_visitor, free)
  return html`<details class="best" id="best" ${
    offeredIn(chosen).length === 0 && html`open`
  }><summary class="button second">${hall.best}</summary>
      <fieldset class="panel"><legend class="sr">${hall.bestText}</legend><p class="quiet small">${hall.bestText}</p>
      ${kinds.length > 1 && html`<div class="filters kinds" role="radiogroup" aria-label="${hall.best}">${kinds}</div>`}
      ${
        sections.length > 1 &&
        html`<label class="field">${hall.section} <select
        name="best-section">${option('', false, hall.anySection)}${names}</select></label>`
      }
      ${
        prices.length > 1 &&
        html`<label class="field">${hall.price} <select
        name="best-category">${option('', false, hall.anyPrice)}${prices}</select></label>`
      }
      <div class="find"><label class="field">${hall.howMany}
        <input type="number" name="best-quantity" min="0" max="${most}" value="${
          chosen['best-quantity'] ?? ''
        }" inputmode="numeric" ${describes(faults, 'best')}></label>
      <button class="button" name="${FIND}" value="best" formnovalidate>${hall.find}</button></div>${faultBeside(
        faults,
        'best',
      )}
      </fieldset></details>`
}

/** A category is named by its price, as people know it, and by its own name only beside another of the same price. */
function categoryNames({ view, words, lang }: PageContext, currency: string): [category: string, name: string][] {
  const priced = (view.hall?.categories ?? []).map(({ category, price_minor, price_to_minor }) => {
    const price = money(lang, price_minor, currency)
    return [category, price_to_minor > price_minor ? fill(words.hall.from, { m: price }) : price] as const
  })
  const isShared = (name: string) => priced.filter(([, other]) => other === name).length > 1
  return priced.map(([category, name]) => [category, isShared(name) ? `${name} · ${category}` : name])
}

/** The kinds of seats to choose from, those that the hall has. */
function kindsOf({ view, words }: PageContext): [kind: SeatKind | '', name: string][] {
  const { anySeat, restrictedOnly, withCompanion } = words.hall
  const kinds = [['restricted_view', restrictedOnly] as const, ['accessible', withCompanion] as const]
  return [['', anySeat], ...kinds.filter(([kind]) => view.hall?.kinds.has(kind)).map(([...pair]) => pair)]
}

/** The number of units of a product, or of places in a standing section. */
function unitsOf(context: PageContext, product: PublicProduct, { chosen }: Entered, faults: Faults): Html {
  const { view, words, lang } = context
  const { product_id, available, currency, section_type } = product
  const name = unitsField(product_id, Boolean(section_type))
  const most = Math.min(view.state.limit_per_visitor, available)
  const typed = chosen[name] ?? ''
  // The typed number stays even if the product is sold out, because it may become available again.
  const isOff = available === 0 && typed === ''
  return html`<label class="choice units"><span><bdi>${product.name}</bdi>
      <small data-units="${product_id}">${
        available === 0 ? words.noneLeft : fill(words.left, { n: count(lang, available) })
      }</small></span>
      <b>${money(lang, product.unit_price_minor, currency)}</b>
      <input type="number" name="${name}" min="0" max="${most}" value="${typed}" inputmode="numeric"
        data-price="${product.unit_price_minor}" ${
          isOff && html`disabled`
        } ${describes(faults, name)}></label>${faultBeside(faults, name)}`
}

// -- What is wrong --------------------------------------------------------------------------------------------------

/** The errors of a purchase, by the part of the form that the buyer must correct. */
export function cartFaults(context: PageContext, entered: Entered): Faults {
  const { problem, chosen } = entered
  if (!problem) return checkoutFaults(context, entered)
  const { words } = context
  const { type, errors = [], section_id, product_id } = problem
  const isGone = problem.remaining !== undefined || /(all-in-carts|sold-out)$/.test(type)
  if (wishIn(chosen)) {
    if (isGone) return { best: words.hall.fewer }
    const isNumber = errors.some(({ field }) => field === 'quantity')
    return errors.length === 0 ? {} : { best: isNumber ? limitText(context) : words.chooseAgain }
  }
  const lines = linesIn(chosen)
  const about = [section_id, product_id].find((id) => typeof id === 'string')
  const isPart = ({ line }: (typeof lines)[number]) => (line.product_id ?? line.section_id) === about
  // The part in which to choose less.
  const named = lines.find(isPart)?.part ?? 'cart'
  if (isGone) {
    const gone = (tryParse(Gone, problem.gone) ?? []).map(({ product_id, section_id = product_id }) => section_id)
    const parts = lines.flatMap(({ part, line }) => (gone.includes(line.product_id ?? line.section_id) ? part : []))
    return Object.fromEntries((parts.length > 0 ? parts : [named]).map((part) => [part, words.hall.fewer]))
  }
  const faults: Record<string, string> = {}
  const limit = limitText(context, about)
  const ofBuyer = checkoutFaults(context, entered)
  for (const { field } of errors) {
    const part: Part | 'cart' | null = partOf(field, lines)
    if (part) faults[part] = /quantity$/.test(field) ? limit : words.chooseAgain
    else if (field === 'quantity') faults[about === undefined ? 'cart' : named] = limit
    else if (Object.keys(ofBuyer).length > 0) continue
    else faults.cart = lines.length === 0 ? nothingText(context) : words.chooseAgain
  }
  return { ...faults, ...ofBuyer }
}

/** A hall without a cart sells seats alone. */
const nothingText = ({ view, words }: Pick<PageContext, 'view' | 'words'>) =>
  view.state.products.every(({ section_type }) => section_type === 'reserved')
    ? words.hall.chooseFirst
    : words.cart.nothing
