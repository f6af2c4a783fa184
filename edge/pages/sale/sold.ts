/** The goods: descriptions, available units by option, terms, delivery and times. */

import { COUNTRIES } from '../../../shared/api/countries.ts'
import type { Delivery, Names } from '../../../shared/api/goods.ts'
import { PHASES, type PublicProduct } from '../../../shared/api/public.ts'
import { count, fill, listed, money, percentage } from '../../../shared/format.ts'
import { isFinal } from '../../../shared/schedule.ts'
import { type Html, html } from '../html.ts'
import { inLanguage } from '../parts/announcement.ts'
import { countriesOf } from '../parts/countries.ts'
import { prose } from '../parts/markdown.ts'
import { dateAt, during, opens } from '../parts/moments.ts'
import { currencyOf, type Item, itemsOf } from '../parts/offer.ts'
import type { PageContext, SaleView } from '../view.ts'
import type { Language } from '../words/words.ts'
import { eventOf } from './calendar.ts'

const LIVE = PHASES.filter((phase) => !isFinal(phase))

/** The name of a variant without its product's name: "42", or "Blue, L". */
const variantName = (lang: Language, { variant, name }: PublicProduct) =>
  listed(lang, Object.values(variant ?? {})) || name

/** The note next to the price: the tax in it, and the limit per person. */
export function priceNote({ view, words, lang }: PageContext): string {
  const { tax, limit_per_visitor, products } = view.state
  // Before another site nothing is sold here.
  if (products.length === 0) return ''
  const most = fill(words.perVisitor, { n: count(lang, limit_per_visitor) })
  if (!tax || tax.included === false) return most
  return [fill(words.taxIncluded, { tax: tax.name, p: percentage(lang, tax.percent) }), most].join(words.fullStop)
}

export function aboutSale(context: PageContext): Html {
  const { view, words } = context
  const items = itemsOf(view)
  const described = items.filter(({ goods }) => goods.description || goods.subtitle)
  const left = html`<div class="stack">
      <h2 id="about">${words.about}</h2>
      ${described.map(
        ({ name, goods }) => html`${items.length > 1 && html`<h3><bdi>${name}</bdi></h3>`}
        ${goods.subtitle && subtitle(goods.subtitle, context.lang)}
        ${goods.description && prose(goods.description, context.lang)}`,
      )}
      ${facts(context)}
      ${items.map((item) => item.goods.terms && terms(context, item, items.length > 1))}
    </div>`
  const { left: about, noneLeft, sizeLeft, gone } = words
  const right = html`<div class="stack" id="products" data-left="${about}" data-none-left="${noneLeft}"
    data-size-left="${sizeLeft}" data-gone="${gone}">
      <h2>${words.onOffer}</h2>
      ${
        items.some(({ units }) => units.length === 1) &&
        html`<ul class="rows">${items.map((item) => item.units.length === 1 && single(context, item))}</ul>`
      }
      ${items.map((item) => item.units.length > 1 && variants(context, item))}
    </div>`
  return html`<section class="two" aria-labelledby="about">${left}${items.length > 0 && right}</section>`
}

function subtitle(texts: Names, around: Language): Html {
  const { text, lang } = inLanguage(texts, around)
  return html`<p class="lead" dir="auto" lang="${lang}">${text}</p>`
}

/** The remaining units according to the schedule, which the page's script reads again. */
const availableOf = ({ schedule }: SaleView, { product_id, available }: PublicProduct) =>
  schedule.products.find((one) => one.product_id === product_id)?.available ?? available

/** After the end of the sale no stock is shown, because the page is newer than the stock. */
const isOver = ({ shows }: SaleView) => shows.kind === 'final'

function single(context: PageContext, { product, name, units: [only = product] }: Item): Html {
  const { view, words, lang } = context
  const n = availableOf(view, only)
  const text = n === 0 ? words.noneLeft : fill(words.left, { n: count(lang, n) })
  const left = during(view.schedule, LIVE, html`<span data-product="${only.product_id}">${text}</span>`, 'small')
  return html`<li><span><bdi>${name}</bdi> ${!isOver(view) && left}</span>
        <b>${money(lang, only.unit_price_minor, only.currency)}</b></li>`
}

function variants({ view, words, lang }: PageContext, { name, goods, options, units }: Item): Html {
  const price = (one: PublicProduct) => money(lang, one.unit_price_minor, one.currency)
  const isOnePrice = units.every(({ unit_price_minor }) => unit_price_minor === units[0]?.unit_price_minor)
  const sizes = units.map((one) => {
    const n = availableOf(view, one)
    const text = n === 0 ? words.gone : fill(words.sizeLeft, { n: count(lang, n) })
    const left = html`<small class="quiet" data-product="${one.product_id}" data-size ${
      n === 0 && html`data-none`
    }>${text}</small>`
    return html`<li><bdi>${variantName(lang, one)}</bdi> ${
      !isOnePrice && html`<small>${price(one)}</small>`
    } ${!isOver(view) && left}</li>`
  })
  const option = listed(lang, goods.options ? options.map(({ label }) => label) : [])
  return html`<div class="stack">
      <h3><bdi>${name}</bdi>${option !== '' && html` <span class="small quiet"><bdi>${option}</bdi></span>`}</h3>
      <ul class="sizes">${sizes}</ul>
    </div>`
}

// -- Facts ----------------------------------------------------------------------------------------------------------

/** The facts that hold for all products. */
function facts(context: PageContext): Html {
  const { view, words, lang } = context
  const { state, schedule, goods } = view
  const { fees = [], delivery } = state
  const event = eventOf(context)
  const currency = currencyOf(state)
  const row = (name: string | Html | readonly Html[], text: string | Html) =>
    html`<div><dt>${name}</dt><dd>${text}</dd></div>`
  return html`<dl class="rows">
      ${view.shows.kind !== 'line' && row(opens(context), dateAt(context, 'opens_at'))}
      ${schedule.ends_at !== null && row(words.endsAt, dateAt(context, 'ends_at'))}
      ${event && row(words.date, html`${event.time} <span class="row links">${event.toCalendar}</span>`)}
      ${goods?.venue && row(words.venue, html`<bdi>${goods.venue}</bdi>`)}
      ${fees.map(
        ({ name, percent, amount_minor, included }) =>
          !included &&
          row(
            html`<bdi>${name}</bdi>`,
            `+ ${percent === undefined ? money(lang, amount_minor ?? 0, currency) : percentage(lang, percent)}`,
          ),
      )}
      ${delivery && delivery.kind !== 'none' && row(words.delivery, deliveryText(context, delivery, currency))}
    </dl>`
}

/** At most this many countries are named one by one. */
const MAX_COUNTRIES = 6

function deliveryText({ words, lang }: PageContext, delivery: Delivery, currency: string) {
  const { kind, pickup, prices } = delivery
  if (kind === 'pickup') return pickup ? html`${words.pickup}${words.fullStop}<bdi>${pickup}</bdi>` : words.pickup
  if (kind === 'handover') return words.handover
  const names = new Intl.DisplayNames(lang, { type: 'region' })
  const countries = countriesOf(delivery)
  const named = countries.slice(0, MAX_COUNTRIES).map((country) => names.of(country) ?? country)
  const some = listed(lang, named) + (countries.length > MAX_COUNTRIES ? ' …' : '')
  const where = countries === COUNTRIES ? words.everywhere : some
  const lowest = Math.min(...(prices ?? []).map(({ amount_minor }) => amount_minor))
  return Number.isFinite(lowest) && lowest > 0
    ? `${where} (${fill(words.hall.from, { m: money(lang, lowest, currency) })})`
    : where
}

function terms(context: PageContext, { name, goods: { terms } }: Item, isNamed: boolean): Html {
  const { words, lang } = context
  return html`<details><summary>${words.terms}${isNamed && html`: <bdi>${name}</bdi>`}</summary>
      ${terms && prose(terms, lang, 'small')}</details>`
}
