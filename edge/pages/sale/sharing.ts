/**
 * What the landing page says to search engines and to those who show a link to it: a description, Open Graph's and
 * Twitter's card, and the sale as schema.org's. All of it is data: no browser runs it.
 */
import type { Post } from '../../../shared/api/public.ts'
import { count, decimal, fill, moment, money } from '../../../shared/format.ts'
import { shareImage } from '../assets.ts'
import { type Html, html, jsonInScript } from '../html.ts'
import { inLanguage } from '../parts/announcement.ts'
import { itemsOf } from '../parts/offer.ts'
import type { PageContext, SaleView } from '../view.ts'
import type { Language } from '../words/words.ts'
import { picturesOf } from './gallery.ts'

/** Open Graph wants a territory with each language. */
const LOCALES: Readonly<Record<Language, string>> = {
  en: 'en_US',
  de: 'de_DE',
  fr: 'fr_FR',
  es: 'es_ES',
  ja: 'ja_JP',
  ar: 'ar_AR',
}
/** Most products in a description: cards cut off longer ones. */
const MAX_PRODUCTS = 3

/**
 * True for the pages that may be found, the sale's and its newest posts: a page with somebody's invitation, of a sale that is not to be
 * found, or of a test, may not.
 */
export const isIndexed = ({ shows, invitation, state }: SaleView) =>
  (shows.kind === 'landing' || (shows.kind === 'posts' && shows.page === null)) &&
  invitation === undefined &&
  state.indexed &&
  !state.test

/** Of the page of a sale's posts: where it is, and what the newest one says. */
export function postsHead({ view, words, lang }: PageContext, [newest]: readonly Post[]): Html {
  const description = [`${words.feed} · ${view.state.name}`, newest && inLanguage(newest.text, lang).text]
  return html`<link rel="canonical" href="${view.host}/sales/${view.sale}/posts">
<meta name="description" content="${description.filter(Boolean).join(words.fullStop)}">`
}

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
${size && html`<meta property="og:image:width" content="${size[0]}"><meta property="og:image:height" content="${size[1]}">`}
<meta name="twitter:card" content="summary_large_image">
<script type="application/ld+json">${jsonInScript({ ...saleEvent(view, url, image), description })}</script>`
}

/** When it opens, what there is, and how much one person may have. */
function describe({ view, words, lang }: PageContext): string {
  const { limit_per_visitor } = view.state
  const items = itemsOf(view)
  const { phase, opens_at } = view.schedule
  const named = items.slice(0, MAX_PRODUCTS).map(({ product, name, units: [first = product] }) => {
    return `${name} (${money(lang, first.unit_price_minor, first.currency)})`
  })
  const isBefore = phase === 'upcoming' || phase === 'pre_queue'
  const when = isBefore ? `${words.opensAt}: ${moment(lang, Date.parse(opens_at), 'UTC')} UTC` : words.saleOpen
  const most = fill(words.perVisitor, { n: count(lang, limit_per_visitor) })
  return [when, `${named.join(' · ')}${items.length > MAX_PRODUCTS ? ' …' : ''}`, most].join(words.fullStop)
}

/** True where the brand has a name. Without one it is the sale's, which names no organizer. */
const isNamed = ({ brand, state }: SaleView) => brand.name !== state.name

/** As wide as those want a picture who show it with a link. */
const SHARED_WIDTH = 1280

/** The sale's own picture, or the shop's if it is of a kind that others show, else one of ours. */
function imageOf(view: SaleView): { path: string; size?: readonly [number, number] } {
  const { logo = '' } = view.brand
  const [hero] = picturesOf(view)
  if (hero?.url.startsWith('/images/')) {
    const { widths = [SHARED_WIDTH] } = hero
    return { path: `${hero.url}/${widths.findLast((one) => one <= SHARED_WIDTH) ?? widths[0]}.jpg` }
  }
  return /^\/.*\.(png|jpe?g|webp)$/i.test(logo) ? { path: logo } : { path: shareImage.path, size: [1200, 630] }
}

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
