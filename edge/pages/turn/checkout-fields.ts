/**
 * The fields of a turn's form in addition to the goods: delivery, e-mail, promo code, terms; and the total with the
 * button.
 */

import { addressLines, isPostcode } from '../../../shared/api/addresses.ts'
import type { Quote } from '../../../shared/api/internal.ts'
import type { PublicProduct } from '../../../shared/api/public.ts'
import { clock, exactly, fill, listed, money } from '../../../shared/format.ts'
import type { Fields } from '../../../shared/parse.ts'
import { addressScript, turnScript } from '../assets.ts'
import { type Html, html, htmlOf, jsonInScript, texts } from '../html.ts'
import { orderPushSwitch } from '../mail-pages.ts'
import { billRows, type Row } from '../parts/bill-rows.ts'
import { countriesOf, countryNames } from '../parts/countries.ts'
import { prose } from '../parts/markdown.ts'
import { currencyOf } from '../parts/offer.ts'
import type { Entered, PageContext } from '../view.ts'
import type { Words } from '../words/words.ts'
import { addressTags, addressWords, deliveryFields } from './address-fields.ts'
import { saidIn } from './cart/cart-seats.ts'
import { choiceIn, daysText, lineRows } from './cart/priced-lines.ts'
import { ADDRESS_FIELDS, addressIn } from './checkout-body.ts'
import { describes, type Faults, faultBeside, faultTags, limitText, totalsIn } from './faults.ts'

/** A cart lists its lines above the sum. `lost` are the names of those that sold out meanwhile. */
interface Cart {
  readonly lost: readonly string[]
}

/** All these fields, from the delivery to the button. */
export function checkoutFields(
  context: PageContext,
  entered: Entered,
  faults: Faults,
  { untilMs, picked, cart }: { readonly untilMs: number; readonly picked?: Html; readonly cart?: Cart },
): Html {
  const { problem } = entered
  const totals = entered.totals ?? (problem && totalsIn(problem))
  return html`${delivery(context, entered, faults)}
    ${email(context, entered, faults)}
    ${promoCode(context, entered, faults, totals)}
    ${sum(context, entered, faults, totals, cart)}
    ${offerData(context, totals, cart)}
    <input type="hidden" name="idempotency_key" value="${keyOf(entered)}">
    ${bar(context, untilMs, totals, { picked, cart })}
    ${orderPushSwitch(context, 'reserved')}`
}

/** The end of a hall's form that leads to the cart: what is chosen, its price, and the button. */
export const toCart = (
  context: PageContext,
  { untilMs, picked, isChosen }: { readonly untilMs: number; readonly picked: Html; readonly isChosen: boolean },
): Html => {
  const { takeThese, withoutSeat } = context.words.hall
  const label = html`<span ${texts({ takeThese, withoutSeat })}>${isChosen ? takeThese : withoutSeat}</span>`
  return html`${offerData(context, undefined, undefined)}
    ${bar(context, untilMs, undefined, { picked, cart: undefined, label })}`
}

/**
 * The key makes one order of a form that is sent twice. After a 503 it stays, because the first attempt may have
 * succeeded.
 */
const keyOf = ({ problem, chosen }: Entered) =>
  (problem?.status === 503 && chosen.idempotency_key) || crypto.randomUUID()

// -- Delivery -------------------------------------------------------------------------------------------------------

/**
 * The country comes first, because it decides the other fields. Without a script its button shows them, with all that
 * was typed.
 */
export function delivery(context: PageContext, { chosen }: Entered, faults: Faults): Html | false {
  const { view, words, lang } = context
  const { kind, pickup } = view.state.delivery
  const countries = kind === 'address' ? countriesOf(view.state.delivery) : []
  const only = countries.length === 1 ? countries[0] : undefined
  const country = countries.find((one) => one === (chosen.country ?? only))
  const fields = deliveryFields(view.state.delivery, country, countries)
  const isAsked = fields.rows.length + fields.folded.length > 0
  if (kind === 'none' && !isAsked) return false
  const faultOf = (name: string) => faultTags(faults, name)
  const tags = addressTags(fields, { values: chosen, words: addressWords(words), lang, faultOf })
  const legend = kind === 'pickup' ? words.checkout.pickup : words.checkout.delivery
  const content = html`${kind === 'pickup' && pickup !== undefined && html`<p class="lines" dir="auto">${pickup}</p>`}
      ${kind === 'handover' && html`<p>${words.checkout.handoverText}</p>`}
      ${kind === 'address' && countryField(context, countries, country, chosen, faults)}
      ${
        isAsked &&
        html`<div class="fields" id="address" data-country="${country}" ${
          kind === 'address' && html`data-script="${addressScript.path}"`
        }>${tags.map(htmlOf)}</div>`
      }`
  if (kind !== 'address') return html`<fieldset class="part"><legend>${legend}</legend>${content}</fieldset>`
  // A complete address is folded, because there is nothing left to do.
  const isComplete =
    country !== undefined &&
    [...fields.required].every((name) => chosen[name]?.trim()) &&
    (!chosen.postcode?.trim() || isPostcode(country, chosen.postcode)) &&
    ADDRESS_FIELDS.every((name) => faults[name] === undefined)
  const address = isComplete && listed(lang, addressLines({ ...addressIn(chosen), country }, lang))
  return html`<details class="part fold to" ${!isComplete && html`open`}><summary><span>${legend}<small
      id="delivered-to">${address}</small></span><span
      class="change">${words.checkout.change}</span></summary><fieldset><legend
      class="sr">${legend}</legend>${content}</fieldset></details>`
}

/** A single country is preselected. */
function countryField(
  context: PageContext,
  countries: readonly string[],
  country: string | undefined,
  chosen: Fields,
  faults: Faults,
) {
  const { view, words, lang } = context
  const choice = choiceIn(saidIn(context, chosen), view.state.products)
  const texts = { lang, currency: currencyOf(view.state), inDays: words.inDays, free: words.bill.free }
  const days = daysText(choice, view.state.delivery, country, texts)
  const options = countryNames(lang, countries).map(
    ([code, name]) => html`<option value="${code}" ${code === country && html`selected`}>${name}</option>`,
  )
  return html`<div class="field land"><label for="country">${words.checkout.country}</label><span class="join"><select
    name="country" id="country" autocomplete="country" required ${describes(faults, 'country')}>${
      countries.length > 1 && html`<option value="">${words.checkout.chooseCountry}</option>`
    }${options}</select><noscript><button class="button second" name="apply" value="1"
      formnovalidate>${words.address.show}</button></noscript></span><small class="quiet"
      id="delivery-days">${days}</small>${faultBeside(faults, 'country')}</div>`
}

// -- E-mail, code, terms --------------------------------------------------------------------------------------------

export function email({ view, words }: PageContext, { chosen }: Entered, faults: Faults): Html | false {
  const { contact } = view.state
  if (contact === 'off') return false
  const isRequired = contact === 'required'
  return html`<div class="part"><div class="field"><label>${
    isRequired ? words.email : words.emailOptional
  }<input type="email" name="email" autocomplete="email" maxlength="254" value="${chosen.email ?? ''}" ${
    isRequired && html`required`
  } ${describes(faults, 'email') ?? html`aria-describedby="email-for"`}></label>${faultBeside(faults, 'email')}</div>
      <p class="small quiet" id="email-for">${words.emailFor}</p></div>`
}

/** The button shows the new price; with a script that works without leaving the page. */
function promoCode({ view, words, lang }: PageContext, { chosen }: Entered, faults: Faults, totals?: Quote): Html {
  const { checkout } = words
  const currency = currencyOf(view.state)
  const applied = totals && totals.discount_minor > 0 && faults.promo_code === undefined
  const isOpen = applied || faults.promo_code !== undefined || chosen.promo_code
  return html`<details class="part code" ${
    isOpen && html`open`
  }><summary>${checkout.promoCode}</summary><div class="field"><label class="sr"
    for="code">${checkout.promoCode}</label>
      <span class="join"><input id="code" name="promo_code" maxlength="200" value="${
        chosen.promo_code ?? ''
      }" autocomplete="off" autocapitalize="characters" spellcheck="false" ${
        describes(faults, 'promo_code') ?? html`aria-describedby="code-applied"`
      }><button class="button second" name="apply" value="1"
        formnovalidate>${checkout.apply}</button></span>${faultBeside(faults, 'promo_code')}</div>
      <p class="small note" id="code-applied" role="status"
        ${texts({ applied: checkout.codeApplied, unknown: checkout.codeUnknown, usedUp: checkout.codeUsedUp })}>${
          applied && fill(checkout.codeApplied, { m: money(lang, totals.discount_minor, currency) })
        }</p></details>`
}

/** The box to accept terms, if a product has some. The text opens without leaving the turn. */
function terms(context: PageContext, { chosen }: Entered, faults: Faults): Html | false {
  const { view, words } = context
  const { products } = view.state
  const sold = products.filter(({ product_id }) => !products.some(({ variant_of }) => variant_of === product_id))
  if (!sold.some(({ has_terms }) => has_terms)) return false
  const isForAll = sold.every(({ has_terms }) => has_terms)
  const read = Object.values(view.goods?.products ?? {}).flatMap(({ terms: text }) => (text ? [text] : []))
  return html`<label class="row check"><input type="checkbox" name="accept" value="terms" ${
    chosen.accept && html`checked`
  } ${
    isForAll && html`required`
  } ${describes(faults, 'accept')}><span>${words.checkout.accept}</span></label>${faultBeside(faults, 'accept')}
      ${
        read.length > 0 &&
        html`<details
        class="terms"><summary>${words.checkout.terms}</summary>${read.map((text) => prose(text, context.lang, 'small'))}</details>`
      }`
}

// -- The sum --------------------------------------------------------------------------------------------------------

/** The rows of the total, which the script fills in while the visitor chooses. */
function sum(context: PageContext, entered: Entered, faults: Faults, totals?: Quote, cart?: Cart): Html {
  const { view, words, lang } = context
  const { chosen } = entered
  const currency = currencyOf(view.state)
  const code = chosen.promo_code?.trim()
  const whole = { name: words.amount, amount: money(lang, totals?.subtotal_minor ?? 0, currency) }
  const { lines } = choiceIn(saidIn(context, chosen), view.state.products)
  const rows: Row[] = cart
    ? [...lineRows(lines, lang, currency).map(isolated), ...cart.lost.map((name) => lostRow(words, name))]
    : [whole]
  return html`<div class="part" id="sum">
      ${cart && html`<h2>${words.cart.choice}</h2>`}
      ${faultBeside(faults, 'sum')}
      <div id="sum-rows">${
        totals
          ? billRows(context, { ...totals, currency }, rows, { code })
          : cart && lines.length === 0 && html`<p class="quiet">${nothingText(context)}</p>`
      }</div>
      ${
        cart &&
        html`<p class="small quiet">${limitText(context)}</p><button class="button second update" name="apply" value="1"
        formnovalidate>${words.cart.update}</button>`
      }
      <input type="hidden" name="total_minor" value="${totals && !totals.needs_country && totals.total_minor}">
      ${terms(context, entered, faults)}
    </div>`
}

const isolated = ({ name, amount }: Row<string>): Row => ({ name: html`<bdi>${name}</bdi>`, amount })
const lostRow = (words: Words, name: string): Row => ({
  name: html`<s><bdi>${name}</bdi></s>`,
  amount: html`<span class="fault">${words.checkout.gone}</span>`,
})

/** The text in place of the sum while nothing is chosen. */
const nothingText = ({ view, words, lang }: PageContext) =>
  fill(words.cart.nothingText, { t: exactly(lang, view.state.hold_seconds) })

/** Remaining time, choice, total and button, always visible. Without a script it has only the time and the button. */
function bar(
  { view, words, lang }: PageContext,
  untilMs: number,
  totals: Quote | undefined,
  {
    picked,
    cart,
    label = cart && cart.lost.length > 0 ? words.cart.reserveRest : words.reserve,
  }: { readonly picked: Html | undefined; readonly cart: Cart | undefined; readonly label?: Html | string },
): Html {
  const currency = currencyOf(view.state)
  const [before = '', after = ''] = words.checkout.timeLeft.split('{t}')
  const sum = money(lang, totals?.total_minor ?? 0, currency)
  const left = clock(lang, (untilMs - view.nowMs) / 1000)
  return html`<div class="bar">${picked}
      <p class="small"><span class="quiet" aria-hidden="true">${before}<time role="timer"
        datetime="${new Date(untilMs).toISOString()}">${left}</time>${after}</span> <span id="chosen"></span><b
          id="bar-sum">${totals && (totals.needs_country ? fill(words.hall.from, { m: sum }) : sum)}</b></p>
      <button class="button">${label}</button>
    </div>`
}

/** The data with which the script calculates: prices, fees, tax and delivery. No browser runs them. */
const offerData = (context: PageContext, totals: Quote | undefined, cart: Cart | undefined): Html =>
  html`<script type="application/json" id="offer"
    data-script="${turnScript.path}">${jsonInScript(offerOf(context, totals, cart))}</script>`

function offerOf(context: PageContext, totals?: Quote, cart?: Cart) {
  const { view, words } = context
  const { products, fees, tax, delivery, limit_per_visitor } = view.state
  const { checkout, bill } = words
  return {
    units: products.map(unitData),
    terms: { fees, tax: tax ?? null, delivery },
    currency: currencyOf(view.state),
    limit: limit_per_visitor,
    /** The total of the form as it was sent, calculated by the server. */
    totals: totals ?? null,
    cart: cart
      ? { ...cart, nothing: words.cart.nothing, nothingText: nothingText(context), items: words.cart.items }
      : null,
    words: {
      ...bill,
      ...pick(checkout),
      total: words.total,
      amount: words.amount,
      inDays: words.inDays,
      from: words.hall.from,
      wrong: words.emailWrong,
      most: words.perVisitorTogether,
      each: words.perVisitor,
      left: checkout.fewLeft,
      gone: checkout.gone,
      address: addressWords(words),
    },
  }
}

const unitData = ({
  product_id,
  variant_of,
  name,
  unit_price_minor,
  weight_grams,
  limit,
  available,
  has_terms,
}: PublicProduct) => ({
  ...{ product_id, variant_of, name, unit_price_minor, weight_grams, limit, available, has_terms },
})

/** The texts that the script needs. */
const pick = ({ choose, stillNeeded, missing, countryWrong, tooHeavy, acceptFirst, terms }: Words['checkout']) => ({
  ...{ choose, stillNeeded, missing, countryWrong, tooHeavy, acceptFirst, terms },
})

/** The type of the data that the script reads. */
export type Offer = ReturnType<typeof offerOf>
