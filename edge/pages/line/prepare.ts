/**
 * What a visitor may fill in while in line, so that the turn is only for choosing. It stays in the browser, so it is
 * offered only with a script, which is loaded when the part is opened.
 */
import { assertExists } from '../../../shared/lib/assert.ts'
import { prepareScript } from '../assets.ts'
import { type Html, html, jsonInScript } from '../html.ts'
import { itemsOf } from '../parts/offer.ts'
import { addressWords } from '../turn/address-fields.ts'
import { isCart } from '../turn/cart/cart-form.ts'
import { delivery, email } from '../turn/checkout-fields.ts'
import { hasSections } from '../turn/hall-form.ts'
import { choices } from '../turn/turn-page.ts'
import type { PageContext } from '../view.ts'

const NOTHING_ENTERED = { chosen: {} }
const NO_FAULTS = {}

/** False for a sale that asks for nothing. */
export function prepareForm(context: PageContext): Html | false {
  const { view, words } = context
  const { state, sale } = view
  if (state.delivery.kind !== 'address' && state.contact === 'off') return false
  return html`<details id="prepare" class="scripted" data-script="${prepareScript.path}"><summary>${
    words.prepare.title
  }</summary><p class="quiet">${words.prepare.text}</p>
    <form method="post" action="/sales/${sale}/buy">${sizes(context)}
    ${delivery(context, NOTHING_ENTERED, NO_FAULTS)}${email(context, NOTHING_ENTERED, NO_FAULTS)}
    <p class="small note" role="status" data-kept="${words.prepare.kept}"></p>
    <script type="application/json">${jsonInScript(dataOf(context))}</script></form></details>`
}

/** The sizes of a sale of one product. */
function sizes(context: PageContext): Html | Html[] | false {
  const { state } = context.view
  if (isCart(state) || hasSections(state)) return false
  const item = assertExists(itemsOf(context.view)[0], 'A sale has a product.')
  return item.options.length > 0 && choices(context, item, NOTHING_ENTERED, NO_FAULTS)
}

const dataOf = ({ view, words }: PageContext) => ({ delivery: view.state.delivery, words: addressWords(words) })

/** The type of the data that the script reads. */
export type Prepared = ReturnType<typeof dataOf>
