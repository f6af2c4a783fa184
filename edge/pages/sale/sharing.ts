/**
 * The landing page's data for search engines and link previews: a description, cards for Open Graph and Twitter, and
 * the sale in schema.org's vocabulary. All of it is data, which no browser runs.
 */
import { count, decimal, fill, moment, money } from '../../../shared/format.ts'
import { shareImage } from '../assets.ts'
import { type Html, html, icon, jsonInScript } from '../html.ts'
import { itemsOf } from '../parts/offer.ts'
import type { PageContext, SaleView } from '../view.ts'
import type { Language } from '../words/words.ts'
import { picturesOf } from './gallery.ts'

/** Open Graph requires a territory with each language. */
const LOCALES: Readonly<Record<Language, string>> = {
  en: 'en_US',
  de: 'de_DE',
  fr: 'fr_FR',
  es: 'es_ES',
  ja: 'ja_JP',
  ar: 'ar_AR',
}
/** A description lists at most this many products, because previews cut longer ones. */
const MAX_PRODUCTS = 3

/**
 * True for pages that search engines may index: the sale's, and those that features add with a head of their own. A
 * page with an invitation, of an unlisted sale, or of a test sale may not be indexed.
 */
export const isIndexed = ({ shows, invitation, state }: SaleView) =>
  (shows.kind === 'landing' || (shows.kind === 'added' && shows.head !== undefined)) &&
  invitation === undefined &&
  state.indexed &&
  !state.test

export function sharingHead(context: PageContext): Html {
  const { view, lang } = context
  const { state, brand, sale, host } = view
  const url = `${host}/sales/${sale}`
  const description = describe(context)
  const { path, size } = imageOf(view)
  const image = `${host}${path}`
  return html`<link rel="canonical" href="${url}">
<meta name="description" content="${description}">
<meta property="og:type" content="website">
<meta property="og:url" content="${url}">
<meta property="og:title" content="${state.name}">
<meta property="og:description" content="${description}">
${isNamed(view) && html`<meta property="og:site_name" content="${brand.name}">`}
<meta property="og:locale" content="${LOCALES[lang]}">
<meta property="og:image" content="${image}">
<meta property="og:image:alt" content="${altOf(view)}">
${
  size &&
  html`<meta property="og:image:width" content="${size[0]}"><meta property="og:image:height" content="${size[1]}">`
}
<meta name="twitter:card" content="summary_large_image">
<script type="application/ld+json">${jsonInScript({ ...saleEvent(view, url, image), description })}</script>`
}

/** Describes the opening, the products, and the limit per person. */
function describe({ view, words, lang }: PageContext): string {
  const { limit_per_visitor } = view.state
  const items = itemsOf(view)
  const { phase, opens_at } = view.schedule
  const named = items.slice(0, MAX_PRODUCTS).map(({ product, name, units: [first = product] }) => {
    return `${name} (${money(lang, first.unit_price_minor, first.currency)})`
  })
  const isBefore = phase === 'upcoming' || phase === 'pre_queue'
  const when = isBefore ? `${words.opensAt}: ${moment(lang, Date.parse(opens_at), 'UTC')}` : words.saleOpen
  const most = fill(words.perVisitor, { n: count(lang, limit_per_visitor) })
  if (items.length === 0) return when
  return [when, `${named.join(' · ')}${items.length > MAX_PRODUCTS ? ' …' : ''}`, most].join(words.fullStop)
}

/** True if the brand has a name. Without one it has the sale's name, which is not an organizer. */
const isNamed = ({ brand, state }: SaleView) => brand.name !== state.name

/** The width that link previews require of a picture. */
const SHARED_WIDTH = 1280

/** The sale's own picture, otherwise the shop's if previews support its format, otherwise a default. */
function imageOf(view: SaleView): { path: string; size?: readonly [number, number] } {
  const { logo = '' } = view.brand
  const [hero] = picturesOf(view)
  if (hero?.url.startsWith('/images/')) {
    const { widths = [SHARED_WIDTH] } = hero
    return { path: `${hero.url}/${widths.findLast((one) => one <= SHARED_WIDTH) ?? widths[0]}.jpg` }
  }
  return /^\/.*\.(png|jpe?g|webp)$/i.test(logo) ? { path: logo } : { path: shareImage.path, size: [1200, 630] }
}

/** The words of the shared picture for those who cannot see it: those of the sale's own picture, otherwise its name. */
const altOf = (view: SaleView) => picturesOf(view)[0]?.alt || view.state.name

function saleEvent(view: SaleView, url: string, image: string) {
  const { state, schedule, brand, host } = view
  const isBefore = schedule.phase === 'upcoming' || schedule.phase === 'pre_queue'
  const { opens_at, ends_at } = schedule
  const units = itemsOf(view).flatMap((item) => item.units)
  const offers = units.map(({ name, unit_price_minor, currency, available }) => ({
    '@type': 'Offer',
    itemOffered: { '@type': 'Product', name },
    price: decimal(unit_price_minor, currency),
    priceCurrency: currency,
    availability: `https://schema.org/${available === 0 ? 'SoldOut' : isBefore ? 'PreSale' : 'LimitedAvailability'}`,
    validFrom: opens_at,
    ...(ends_at !== null && { validThrough: ends_at }),
    eligibleQuantity: { '@type': 'QuantitativeValue', maxValue: state.limit_per_visitor },
    url,
  }))
  return {
    '@context': 'https://schema.org',
    '@type': 'SaleEvent',
    name: state.name,
    url,
    image,
    startDate: opens_at,
    eventStatus: 'https://schema.org/EventScheduled',
    ...(ends_at !== null && { endDate: ends_at }),
    eventAttendanceMode: 'https://schema.org/OnlineEventAttendanceMode',
    location: { '@type': 'VirtualLocation', url },
    ...(isNamed(view) && { organizer: { '@type': 'Organization', name: brand.name, url: host } }),
    offers,
  }
}

/** Shares the sale's page. The script shows the button if the browser can share. */
export const shareButton = ({ view, words }: PageContext) =>
  html`<button class="button second" type="button" data-share="/sales/${view.sale}"
    hidden>${icon('share')} ${words.after.share}</button>`
