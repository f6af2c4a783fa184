/** The errors of a purchase, each next to the field that the buyer must correct. */

import { Quote } from '../../../shared/api/internal.ts'
import { count, fill, money } from '../../../shared/format.ts'
import { tryParse } from '../../../shared/parse.ts'
import { type Problem, TOO_HEAVY } from '../../../shared/problem.ts'
import { type Html, html } from '../html.ts'
import { countryName } from '../parts/countries.ts'
import { faultId } from '../parts/fault.ts'
import { currencyOf } from '../parts/offer.ts'
import type { Entered, PageContext } from '../view.ts'
import type { FaultTags } from './address-fields.ts'
import { ADDRESS_FIELDS } from './checkout-body.ts'

/** The errors by the name of a field or of a part of the form, in the order of the page. */
export type Faults = Readonly<Record<string, string | undefined>>

/** An error of no single field is focused itself. */
const OF_NO_FIELD = ['product', 'cart', 'seats', 'sum']

export const faultBeside = (faults: Faults, name: string): Html | undefined => {
  const text = faults[name]
  if (text === undefined) return
  const isFocused = OF_NO_FIELD.includes(name) && isFirst(faults, name)
  return html`<p class="fault small" id="${faultId(name)}" role="alert"${
    isFocused && html` tabindex="-1" autofocus`
  }>${text}</p>`
}

const isFirst = (faults: Faults, name: string) => Object.keys(faults)[0] === name

/** The attributes of a field with an error. The first such field gets the focus. */
export const describes = (faults: Faults, name: string): Html | undefined =>
  faults[name] === undefined
    ? undefined
    : html`aria-invalid="true" aria-describedby="${faultId(name)}" ${isFirst(faults, name) && html`autofocus`}`

/** The same as parts that a script makes too. */
export const faultTags = (faults: Faults, name: string): FaultTags | undefined =>
  faults[name] === undefined
    ? undefined
    : {
        attributes: {
          ...{ 'aria-invalid': 'true', 'aria-describedby': faultId(name) },
          ...(isFirst(faults, name) && { autofocus: '' }),
        },
        beside: ['p', { class: 'fault small', id: faultId(name), role: 'alert' }, faults[name]],
      }

/** The errors of the fields that every checkout has, whatever it sells. */
export function checkoutFaults({ view, words, lang }: PageContext, { problem, chosen, totals }: Entered): Faults {
  const { checkout } = words
  const faults: Record<string, string> = {}
  const refused = totals?.promo_codes.find(({ holds }) => !holds)
  if (refused) faults.promo_code = refused.reason === 'used_up' ? checkout.codeUsedUp : checkout.codeUnknown
  if (!problem) return faults
  const { type, errors = [] } = problem
  const of = (form: RegExp) => errors.some(({ field }) => form.test(field))
  if (isTooHeavy(problem)) faults.country = checkout.tooHeavy
  for (const field of ADDRESS_FIELDS) if (of(new RegExp(`^delivery\\.${field}$`))) faults[field] = checkout.missing
  if (faults.postcode && chosen.postcode?.trim())
    faults.postcode = fill(words.address.wrongPostcode, { country: countryName(lang, chosen.country) })
  if (chosen.country && of(/^delivery\.country$/)) faults.country = checkout.countryWrong
  if (of(/^contact/)) faults.email = words.emailWrong
  if (type.endsWith('/promo-code-used-up')) faults.promo_code = checkout.codeUsedUp
  if (type.endsWith('/promo-code-unknown') || of(/^promo_code/)) faults.promo_code = checkout.codeUnknown
  if (of(/^accept/)) faults.accept = checkout.acceptFirst
  const now = totalsIn(problem)
  const currency = currencyOf(view.state)
  if (type.endsWith('/price-changed'))
    faults.sum = fill(checkout.priceChanged, { m: now ? money(lang, now.total_minor, currency) : '…' })
  return inOrder(faults)
}

const ORDER = [...ADDRESS_FIELDS, 'email', 'promo_code', 'sum', 'accept']
const inOrder = (faults: Faults): Faults =>
  Object.fromEntries(ORDER.flatMap((name) => (faults[name] === undefined ? [] : [[name, faults[name]]])))

/** The error belongs to both the quantity and the country; the origin names the first. */
export const isTooHeavy = ({ reason }: Problem) => reason === TOO_HEAVY

/** The total that a problem contains, because it differs from the one that the buyer saw. */
export function totalsIn(problem: Problem): Quote | undefined {
  return tryParse(Quote, problem.totals) ?? tryParse(Quote, problem)
}

/** The limit of a product if it has one of its own, otherwise of all units together. */
export function limitText({ view, words, lang }: PageContext, product?: unknown): string {
  const { products, limit_per_visitor } = view.state
  const limit = products.find(({ product_id }) => product_id === product)?.limit
  return limit
    ? fill(words.perVisitor, { n: count(lang, limit) })
    : fill(words.perVisitorTogether, { n: count(lang, limit_per_visitor) })
}
