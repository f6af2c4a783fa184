/** What is wrong with a purchase, each beside the field to mend it in. */

import type { AddressField } from '../../../shared/api/goods.ts'
import { Totals } from '../../../shared/api/public.ts'
import { count, fill, money } from '../../../shared/format.ts'
import { tryParse } from '../../../shared/parse.ts'
import type { Problem } from '../../../shared/problem.ts'
import { ADDRESS_FIELDS } from '../../checkout/checkout-body.ts'
import { type Html, html } from '../html.ts'
import type { Entered, PageContext } from '../view.ts'
import { countriesOf } from './countries.ts'

/** By the name of a field or of a part of the form, in the order of the page. */
export type Faults = Readonly<Record<string, string | undefined>>

const idOf = (name: string) => `fault-${name.replace(':', '-')}`

export const faultBeside = (faults: Faults, name: string): Html | undefined => {
  const text = faults[name]
  return text === undefined ? undefined : html`<p class="fault small" id="${idOf(name)}" role="alert">${text}</p>`
}

/** Attributes of the field; the first that is wrong gets the focus. */
export const describes = (faults: Faults, name: string): Html | undefined =>
  faults[name] === undefined
    ? undefined
    : html`aria-invalid="true" aria-describedby="${idOf(name)}" ${Object.keys(faults)[0] === name && html`autofocus`}`

/** Of the fields that every checkout has, whatever it sells. */
export function checkoutFaults({ view, words, lang }: PageContext, { problem, chosen }: Entered): Faults {
  if (!problem) return {}
  const { type, errors = [] } = problem
  const of = (form: RegExp) => errors.some(({ field }) => form.test(field))
  const { checkout } = words
  const faults: Record<string, string> = {}
  for (const field of ADDRESS_FIELDS) if (of(new RegExp(`^delivery\\.${field}$`))) faults[field] = checkout.missing
  // Of the delivery as a whole: not to that country, or not so much.
  const isAllowed = countriesOf(view.state.delivery).includes(chosen.country ?? '')
  const isTooHeavy = isAllowed && (faults.country !== undefined || of(/^delivery$/))
  if (chosen.country && (faults.country !== undefined || of(/^delivery$/)))
    faults.country = isTooHeavy ? checkout.tooHeavy : checkout.countryWrong
  if (of(/^contact/)) faults.email = words.emailWrong
  if (type.endsWith('/promo-code-used-up')) faults.promo_code = checkout.codeUsedUp
  if (type.endsWith('/promo-code-unknown') || of(/^promo_code/)) faults.promo_code = checkout.codeUnknown
  if (of(/^accept/)) faults.accept = checkout.acceptFirst
  const totals = totalsIn(problem)
  const currency = view.state.products[0]?.currency ?? ''
  if (type.endsWith('/price-changed'))
    faults.sum = fill(checkout.priceChanged, { m: totals ? money(lang, totals.total_minor, currency) : '…' })
  return faults
}

/** The sum that a problem says in place of the one that the buyer was shown. */
export function totalsIn(problem: Problem): Totals | undefined {
  return tryParse(Totals, problem.totals) ?? tryParse(Totals, problem)
}

/** At most so many of all together. */
export const limitText = ({ view, words, lang }: PageContext) =>
  fill(words.perVisitorTogether, { n: count(lang, view.state.limit_per_visitor) })

export const isAddressField = (name: string): name is AddressField => ADDRESS_FIELDS.includes(name as AddressField)
