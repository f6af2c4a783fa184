/**
 * The form of a turn in a sale of several products: a line for each, with a number from 0, for each chosen size, and
 * for each seat that was chosen in the hall before. Without a script it is a plain form, whose buttons show it again
 * with the new sum.
 */
import type { PublicSale } from '../../../../shared/api/public.ts'
import { count, fill } from '../../../../shared/format.ts'
import type { Fields } from '../../../../shared/parse.ts'
import { type Html, html, icon, postForm, TURN_FORM } from '../../html.ts'
import { inLanguage } from '../../parts/announcement.ts'
import { faultOf } from '../../parts/fault.ts'
import { type Item, itemsOf, priceOf } from '../../parts/offer.ts'
import { picture } from '../../parts/picture.ts'
import type { Entered, PageContext } from '../../view.ts'
import { CART, countField, sizeField, unitsField } from '../cart-fields.ts'
import { checkoutFields } from '../checkout-fields.ts'
import { describes, type Faults, faultBeside } from '../faults.ts'
import { cartFaults } from '../hall-form.ts'
import { seatLines, takenNotice } from './cart-seats.ts'
import { isTaken, type Lost, lostIn, restAfter } from './rest.ts'

/** A line shows its remaining units only if there are at most this many. */
const FEW = 10

/** A sale without reserved seats that has more than one thing to choose. */
export const isCart = ({ products }: Pick<PublicSale, 'products'>) =>
  products.every(({ section_type }) => section_type !== 'reserved') &&
  products.filter(({ variant_of }) => !variant_of).length > 1

export function cartForm(context: PageContext, untilMs: number, entered: Entered): Html {
  const { view, words } = context
  const { problem } = entered
  const lost = lostIn(problem, entered.chosen)
  const kept = { ...entered, chosen: problem ? restAfter(problem, entered.chosen) : entered.chosen }
  const isSeatTaken = problem !== undefined && isTaken(problem)
  const faults = lost.length > 0 ? {} : cartFaults(context, entered)
  const lines = (items: readonly Item[]) => items.map((item) => linesOf(context, item, kept, faults, lost))
  const [places, goods] = ['general_admission', 'goods'].map((type) =>
    itemsOf(view).filter(({ product }) => (product.section_type ?? 'goods') === type),
  ) as [Item[], Item[]]
  const seats = seatLines(context, kept)
  const hasTickets = seats !== false || places.length > 0
  const part = (title: string, items: readonly Item[], before: Html | false = false) =>
    (before || items.length > 0) &&
    html`<section><h2>${title}</h2><ul class="cart-lines">${before}${lines(items)}</ul></section>`
  // A field of this name tells the first script that the turn has something to choose. The first button is the one
  // that the key Enter presses.
  return postForm(
    `/sales/${view.sale}/buy`,
    html`<input type="hidden" name="product_id" value=""><input type="hidden" name="${CART}" value="1">
    <button name="apply" value="1" formnovalidate hidden></button>
    <div class="page split cart"><div id="choices" data-few="${FEW}" data-left="${words.checkout.fewLeft}"
      data-none-left="${words.checkout.gone}">
      ${problem && isSeatTaken && takenNotice(context, { ...entered, problem })}
      ${lost.length > 0 && lostNotice(context, lost)}
      ${part(words.cart.tickets, places, seats)}
      ${faultBeside(faults, 'seats')}
      ${part(hasTickets ? words.hall.others : words.stepChoose, goods)}
    </div><div>
      ${faultBeside(faults, 'cart')}
      ${
        problem &&
        lost.length === 0 &&
        !isSeatTaken &&
        Object.keys(faults).length === 0 &&
        view.schedule.phase !== 'paused' &&
        faultOf(problem, words)
      }
      ${checkoutFields(context, kept, faults, { untilMs, cart: { lost: lost.map((one) => nameOf(context, one)) } })}
    </div></div>`,
    TURN_FORM,
  )
}

// -- What was lost --------------------------------------------------------------------------------------------------

const nameOf = ({ view }: PageContext, { product }: Lost) =>
  view.state.products.find(({ product_id }) => product_id === product)?.name ?? product

/** The name is isolated, because its direction may differ from that of the text. */
function lostText(context: PageContext, lost: Lost): Html {
  const { words, lang } = context
  const text = lost.left > 0 ? fill(words.cart.less, { n: count(lang, lost.left) }) : words.cart.gone
  const [before, after] = text.split('{what}')
  return html`${before}<bdi>${nameOf(context, lost)}</bdi>${after}`
}

const lostNotice = (context: PageContext, lost: readonly Lost[]) =>
  html`<div class="lost" role="alert" tabindex="-1" autofocus>${lost.map(
    (one) => html`<p><b>${lostText(context, one)}</b></p>`,
  )}<p>${context.words.cart.rest}</p></div>`

// -- Lines ----------------------------------------------------------------------------------------------------------

interface Row {
  /** The name of the field of the number. */
  readonly field: string
  readonly sizes?: Html
}

/** A product has one line, and one with variants a line for each chosen size. */
function linesOf(
  context: PageContext,
  item: Item,
  entered: Entered,
  faults: Faults,
  lost: readonly Lost[],
): readonly Html[] {
  const { product, options } = item
  const rows: readonly Row[] =
    options.length === 0
      ? [{ field: unitsField(product.product_id, Boolean(product.section_type)) }]
      : rowsIn(entered.chosen, product.product_id).map((row, i, all) => ({
          field: countField(product.product_id, row),
          sizes: html`${sizes(context, item, entered, lost, row)}${i === all.length - 1 && again(context, item)}`,
        }))
  return rows.map((row) => line(context, item, row, entered, faults, lost))
}

/** The numbers of the rows with a chosen size, or the first; and one more if it is asked for. */
function rowsIn(fields: Fields, product: string): readonly number[] {
  const chosen = Object.entries(fields).flatMap(([name, variant]) => {
    const [kind, id, row] = name.split(':')
    return kind === 'size' && id === product && variant !== '' && Number(row) > 0 ? [Number(row)] : []
  })
  const rows = chosen.toSorted((a, b) => a - b)
  if (rows.length === 0) return [1]
  return fields.again === product ? [...rows, Math.max(...rows) + 1] : rows
}

function line(
  context: PageContext,
  item: Item,
  { field, sizes }: Row,
  { chosen }: Entered,
  faults: Faults,
  lost: readonly Lost[],
): Html {
  const { view, words, lang } = context
  const { product, image, name, units, goods } = item
  const limit = units.find((unit) => unit.limit)?.limit ?? null
  const most = Math.min(view.state.limit_per_visitor, limit ?? Infinity)
  const typed = chosen[field] ?? ''
  // The typed number stays even if the product is sold out, because it may become available again.
  const isOff = units.every(({ available }) => available === 0) && !(Number(typed) > 0)
  const about = goods.subtitle && inLanguage(goods.subtitle, lang)
  const gone = lost.find(({ part }) => part === field)
  const left = html`<data value="${product.product_id}"><small>${leftText(context, product.available)}</small></data>`
  const lostHere = gone && html`<p class="fault small">${lostText(context, gone)}</p>`
  const step = (by: number, label: string, sign: 'minus' | 'plus') =>
    html`<button class="icon-button" type="button" data-step="${by}" aria-label="${label}: ${name}" ${
      isOff && html`disabled`
    }>${icon(sign)}</button>`
  const [less, more] = [step(-1, words.checkout.less, 'minus'), step(1, words.checkout.more, 'plus')]
  return html`<li>
    ${image && html`<div class="pic">${picture(image, { sizes: '6rem' })}</div>`}
    <div class="what"><h3><label for="${field}"><bdi>${name}</bdi></label></h3>
      ${about && html`<p class="small quiet" dir="auto" lang="${about.lang}">${about.text}</p>`}
      ${limit !== null && html`<p class="small quiet each">${fill(words.perVisitor, { n: count(lang, limit) })}</p>`}
      ${!sizes && left}</div>
    <div class="take"><span data-price>${priceOf(context, units)}</span><span class="stepper">${less}<input
      type="number" id="${field}" name="${field}" min="0" max="${most}" value="${typed}" placeholder="0"
      inputmode="numeric" autocomplete="off" ${isOff && html`disabled`} ${describes(faults, field)}>${more}</span></div>
    ${sizes}
    <div class="more">${faultBeside(faults, field)}${lostHere}<p
      class="small" role="status" data-limit-of="${field}"></p></div>
  </li>`
}

const leftText = ({ words, lang }: PageContext, available: number) =>
  available === 0
    ? words.checkout.gone
    : available <= FEW
      ? fill(words.checkout.fewLeft, { n: count(lang, available) })
      : ''

/** The values of the last option, for each value of the others. The chosen one identifies the variant. */
function sizes(
  context: PageContext,
  { name, groups, options, product }: Item,
  { chosen }: Entered,
  lost: readonly Lost[],
  row: number,
): readonly Html[] {
  const option = options.at(-1)?.label ?? ''
  const field = sizeField(product.product_id, row)
  return groups.map(({ heading, choices }) => {
    const labels = choices.map(({ unit, value }) => {
      const { product_id } = unit
      const available = lost.find(({ product: gone }) => gone === product_id)?.left ?? unit.available
      const isChosen = chosen[field] === product_id
      return html`<label><input type="radio" name="${field}" value="${product_id}" ${isChosen && html`checked`} ${
        available === 0 && !isChosen && html`disabled`
      }><bdi>${value}</bdi><small>${leftText(context, available)}</small></label>`
    })
    return html`<fieldset class="more"><legend class="${heading === '' ? 'sr' : 'small'}"><bdi>${name}</bdi>: <bdi>${
      heading === '' ? option : heading
    }</bdi></legend><div class="sizes">${labels}</div></fieldset>`
  })
}

const again = ({ words }: PageContext, { options, product }: Item) =>
  html`<p class="more"><button class="link small" name="again" value="${
    product.product_id
  }" formnovalidate>${words.checkout.more}: <bdi>${options.at(-1)?.label}</bdi></button></p>`
