/** The turn of a visitor, who chooses and reserves units, or waits for returned ones if all are in carts. */
import { count, exactly, fill } from '../../../shared/format.ts'
import { assertExists } from '../../../shared/lib/assert.ts'
import { ADMISSION_TTL_SECONDS } from '../../../shared/tokens.ts'
import { type Html, html, icon, postForm, TURN_FORM } from '../html.ts'
import { pauseReason } from '../parts/announcement.ts'
import { band, steps } from '../parts/band.ts'
import { faultOf } from '../parts/fault.ts'
import { during } from '../parts/moments.ts'
import { type Item, itemsOf, priceOf, unitName } from '../parts/offer.ts'
import { picture } from '../parts/picture.ts'
import type { Content, Entered, PageContext } from '../view.ts'
import { cartForm, isCart } from './cart/cart-form.ts'
import { isInHall } from './cart-fields.ts'
import { checkoutFields } from './checkout-fields.ts'
import { checkoutFaults, describes, type Faults, faultBeside, isTooHeavy, limitText } from './faults.ts'
import { hallForm, hasSections, leadsToCart } from './hall-form.ts'

/** A turn without free units reloads this often, because few visitors have a turn, and its time is limited. */
const RELOAD_IN_CARTS_SECONDS = 5
/** A variant shows its remaining units only if there are at most this many. */
const FEW = 10

export function turnPage(context: PageContext, untilMs: number, entered: Entered = { chosen: {} }): Content {
  const { view, words } = context
  const seconds = Math.max(0, (untilMs - view.nowMs) / 1000)
  const hasStock = view.state.products.some(({ available }) => available > 0)
  const title = hasStock ? words.ready : words.allInCarts
  const label = words.admissionEndsIn
  const isHall = hasSections(view.state)
  const form = formOf(context, entered)
  const paused = during(
    view.schedule,
    ['paused'],
    html`<p class="lead"><b>${words.paused}</b>${words.fullStop}${words.turnPaused}</p>${pauseReason(context)}`,
  )
  const main = html`<section id="turn">
    ${band(context, {
      title,
      text: isHall && html`<bdi>${view.state.name}</bdi>`,
      seconds,
      of: ADMISSION_TTL_SECONDS,
      label,
    })}
    <div class="page notes">${paused}${!hasStock && html`<p class="lead">${words.turnAllInCarts}</p>`}</div>
    ${hasStock && form(context, untilMs, entered)}
  </section>`
  // The page reloads only after the turn is over, because a reload would remove what the visitor is about to choose.
  const reloadSeconds = hasStock ? Math.ceil(seconds) + 1 : RELOAD_IN_CARTS_SECONDS
  return { title, main, reloadSeconds, steps: steps(context, 0), look: 'full', ...(hasStock && { form: TURN_FORM }) }
}

function formOf({ view }: PageContext, { chosen }: Entered): typeof cartForm {
  if (isCart(view.state) || (leadsToCart(view.state) && !isInHall(chosen))) return cartForm
  return hasSections(view.state) ? hallForm : reserveForm
}

/** The form of a sale of one product. */
function reserveForm(context: PageContext, untilMs: number, entered: Entered): Html {
  const { view, words } = context
  const { problem } = entered
  const faults = faultsOf(context, entered)
  const item = assertExists(itemsOf(view)[0], 'A turn with free units has a product.')
  const form = html`<div id="choices" data-left="${words.left}" data-none-left="${words.noneLeft}">${choices(
    context,
    item,
    entered,
    faults,
  )}</div>${faultBeside(faults, 'product')}
    ${quantity(context, item, entered, faults)}
    ${checkoutFields(context, entered, faults, { untilMs })}
    ${problem && Object.keys(faults).length === 0 && view.schedule.phase !== 'paused' && faultOf(problem, words)}`
  return html`<div class="page split">
    <div class="stay">${itemHead(context, item)}</div>
    ${postForm(`/sales/${view.sale}/buy`, form, TURN_FORM)}
  </div>`
}

const hint = ({ view, words, lang }: PageContext) =>
  fill(words.chooseText, { t: exactly(lang, view.state.hold_seconds) })

/** The goods of the turn: picture, name and price. */
function itemHead(context: PageContext, item: Item): Html {
  const { product, image, units } = item
  const left = units.length === 1 && units[0] === product && unitLeft(context, product)
  return html`<div class="item">
      ${
        image &&
        html`<div class="pic goods-pic">${picture(image, {
          sizes: '(min-width: 60rem) 58vw, 5.5rem',
          eager: true,
        })}</div>`
      }
      <p><b><bdi>${item.name}</bdi></b><span
        data-price="${product.product_id}">${priceOf(context, units)}</span> ${left} <small>${hint(context)}</small></p>
    </div>`
}

const unitLeft = ({ words, lang }: PageContext, { available }: Item['product']) =>
  html`<small>${available === 0 ? words.noneLeft : fill(words.left, { n: count(lang, available) })}</small>`

// -- What to choose -------------------------------------------------------------------------------------------------

/** The variants, or the product itself, preselected, if it has none. */
export function choices(context: PageContext, item: Item, entered: Entered, faults: Faults): Html | Html[] {
  const option = item.options.at(-1)?.label
  if (option === undefined) return html`<input type="hidden" name="product_id" value="${item.product.product_id}">`
  return sizes(context, item, option, entered, faults)
}

const isChosen = ({ chosen }: Entered, product: string) => chosen.product_id === product && html`checked`

const chosenIsNot = ({ chosen }: Entered, product: string) => chosen.product_id !== product

/** The values of the last option, for each value of the others. The chosen one identifies the variant. */
function sizes(context: PageContext, item: Item, option: string, entered: Entered, faults: Faults): Html[] {
  const { words, lang } = context
  const { checkout } = words
  const data = html`data-few="${FEW}" data-left="${checkout.fewLeft}" data-none-left="${checkout.gone}"
    data-option="${option}"`
  return item.groups.map(({ heading, choices }) => {
    const labels = choices.map(({ unit, value }) => {
      const { product_id, available } = unit
      const isOff = available === 0 && chosenIsNot(entered, product_id)
      const left =
        available === 0 ? checkout.gone : available <= FEW ? fill(checkout.fewLeft, { n: count(lang, available) }) : ''
      return html`<label><input type="radio" name="product_id" value="${product_id}" ${isChosen(entered, product_id)}
      data-name="${unitName(item, unit, lang)}" ${
        isOff && html`disabled`
      } required><bdi>${value}</bdi><small>${left}</small></label>`
    })
    return html`<fieldset class="part" ${data} ${
      faults.product !== undefined && html`aria-describedby="fault-product"`
    }><legend><bdi>${heading === '' ? option : heading}</bdi></legend>
        <div class="sizes">${labels}</div></fieldset>`
  })
}

/** The quantity is limited by the remaining units and the limit per person. */
function quantity(context: PageContext, { units }: Item, { chosen }: Entered, faults: Faults): Html | false {
  const { view, words } = context
  const { checkout } = words
  const most = Math.min(
    view.state.limit_per_visitor,
    Math.max(...units.map(({ limit, available }) => Math.min(limit ?? available, available))),
  )
  if (most <= 1) return false
  return html`<div class="part"><div class="head"><label for="quantity">${words.quantity}</label>
      <span class="stepper"><button class="icon-button" type="button" data-step="-1"
        aria-label="${checkout.less}">${icon('minus')}</button><input type="number"
        name="quantity" min="1" max="${most}" value="${
          chosen.quantity ?? 1
        }" inputmode="numeric" required id="quantity" ${describes(faults, 'quantity')}><button class="icon-button"
        type="button" data-step="1"
          aria-label="${checkout.more}">${icon('plus')}</button></span></div>${faultBeside(faults, 'quantity')}</div>`
}

/** The errors of a purchase, by the field that the buyer must correct. */
function faultsOf(context: PageContext, entered: Entered): Faults {
  const { problem } = entered
  if (!problem) return checkoutFaults(context, entered)
  const { words } = context
  const { type, errors = [], remaining } = problem
  const of = (form: RegExp) => errors.some(({ field }) => form.test(field))
  // If too many units were requested, for now or for good, the origin sends how many remain.
  if (remaining !== undefined || /(all-in-carts|sold-out)$/.test(type)) return { product: words.lessLeftText }
  return {
    ...(of(/^product_id$/) && { product: words.chooseAgain }),
    ...(of(/^quantity$/) && !isTooHeavy(problem) && { quantity: limitText(context) }),
    ...checkoutFaults(context, entered),
  }
}
