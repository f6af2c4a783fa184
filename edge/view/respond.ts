/**
 * Makes responses from data: a sale as a view or a document, a problem as a page, in the visitor's language and the
 * shop's brand. The headers allow a page to load nothing from other hosts.
 */
import type { GoodsDocument } from '../../shared/api/goods.ts'
import type { PublicSale } from '../../shared/api/public.ts'
import type { Problem } from '../../shared/problem.ts'
import { asksForProof } from '../admission/admit.ts'
import { accessOf } from '../admission/rules.ts'
import { goodsOf } from '../goods/goods.ts'
import { type Call, hostOf, NO_STORE, pathOf, wantsHtml } from '../http/call.ts'
import type { Config } from '../http/config.ts'
import { type Brand, logoPath } from '../pages/brand.ts'
import { renderProblem } from '../pages/index.ts'
import { Kept } from '../pages/parts/kept.ts'
import { namedIn } from '../pages/parts/offer.ts'
import type { SaleView, Shows } from '../pages/view.ts'
import { withOwnWords } from '../pages/words/own-words.ts'
import type { Language } from '../pages/words/words.ts'
import type { SaleNow } from '../queue/sale-cache.ts'
import { type ChosenLanguage, languageOf } from '../visitor/language.ts'
import { signInUrl } from '../visitor/session.ts'

/** The addresses of other hosts from which a page may load. */
interface Allowed {
  readonly scripts?: string
  readonly frames?: string
  readonly calls?: string
  /** The addresses to which the response to a form may redirect. */
  readonly forms?: string
}
const TURNSTILE: Allowed = { scripts: 'https://challenges.cloudflare.com', frames: 'https://challenges.cloudflare.com' }

/**
 * The addresses that Stripe documents (docs.stripe.com/security/guide), with the one from which its script is loaded.
 */
const stripe = (script: string): Allowed => ({
  scripts: `${new URL(script).origin} https://*.js.stripe.com`,
  frames: `${new URL(script).origin} https://*.js.stripe.com https://hooks.stripe.com`,
  calls: 'https://api.stripe.com',
})

const contentSecurityPolicy = ({ scripts, frames, calls, forms }: Allowed = {}) =>
  [
    "default-src 'none'",
    `script-src 'self'${scripts ? ` ${scripts}` : ''}`,
    ...(frames ? [`frame-src ${frames}`] : []),
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self'${calls ? ` ${calls}` : ''}`,
    "worker-src 'self'",
    `form-action 'self'${forms ? ` ${forms}` : ''}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': contentSecurityPolicy(),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  vary: 'accept, accept-language',
}

/** The parts of a view that decide from where its page may load, and where its forms may lead. */
type Reach = Pick<SaleView, 'turnstile' | 'shows' | 'scheduleUrl' | 'onwards'>

/** A page may load from other hosts only if it shows Turnstile's widget, Stripe's form, or a schedule from a CDN. */
export function headersOf({ turnstile, shows, scheduleUrl, onwards = [] }: Reach) {
  const allowed = shows.kind === 'payment' ? stripe(shows.stripe.script) : turnstile === undefined ? {} : TURNSTILE
  const calls = [allowed.calls, scheduleUrl].filter((one) => one !== undefined).join(' ')
  return {
    ...PAGE_HEADERS,
    'content-security-policy': contentSecurityPolicy({ ...allowed, calls, forms: onwards.join(' ') }),
  }
}

/**
 * The headers by their policy. The runtime takes a `Headers` object unchanged, but would parse a plain object each
 * time.
 */
const ownHeaders = new Map<string, Headers>()

/** The headers of a page for one visitor, which no cache stores. Callers must not change them. */
export function ownHeadersOf(view: Reach): Headers {
  const headers = headersOf(view)
  const policy = headers['content-security-policy']
  const known = ownHeaders.get(policy) ?? new Headers({ ...headers, 'cache-control': NO_STORE })
  ownHeaders.set(policy, known)
  return known
}

type Moment = Pick<SaleNow, 'sale' | 'line' | 'facts' | 'schedule' | 'atMs' | 'policy'>

export function publicSale({ facts, schedule, atMs }: Pick<Moment, 'facts' | 'schedule' | 'atMs'>): PublicSale {
  return { ...facts, phase: schedule.phase, server_time_ms: atMs }
}

const states = new Kept<SaleView['state']>(1_000)

/**
 * The state of a sale in a language. It is the same object as long as nothing changes, so the parts that are made
 * from it can be reused.
 */
const stateIn = (lang: Language, { sale, line, facts, schedule: { phase } }: Moment, goods: GoodsDocument | null) =>
  states.get(`${sale} ${line} ${lang}`, [facts, phase, goods], () => namedIn(lang, { ...facts, phase }, goods))

/** The view of a page for the holder of a ticket number, or for a visitor without one. */
export async function viewOf(
  now: Moment,
  number: number | null,
  shows: Shows,
  call: Call,
  { lang, isChosen }: ChosenLanguage = languageOf(call),
): Promise<SaleView> {
  const { config } = call
  const { sale, policy } = now
  const [goods, sections] = await Promise.all([
    goodsOf(sale, now.facts.goods_version, call),
    Promise.all(call.pageParts.map((part) => part(sale, shows, call))),
  ])
  const { lines } = policy
  const line = lines.find((one) => one.line === now.line) ?? { line: now.line }
  const others = lines.length > 1 ? { line, ...othersOf(now, call) } : {}
  const access = accessOf(policy, now.line)
  const onwards = call.onwards.flatMap(({ origins }) => origins(sale, call))
  const state = stateIn(lang, now, goods)
  return {
    sale,
    state,
    schedule: now.schedule,
    number,
    ...others,
    nowMs: now.atMs,
    lang,
    choseLanguage: isChosen,
    words: wordsOf(config, goods)[lang],
    brand: brandOf(config, sale, state.name, goods),
    goods,
    host: hostOf(call),
    claimSeconds: config.CLAIM_SECONDS,
    ...(asksForProof(policy, call) ? { challenge: `/sales/${sale}/challenge` } : {}),
    ...(config.turnstile && lines.some((one) => one.access.turnstile)
      ? { turnstile: config.turnstile.TURNSTILE_SITE_KEY }
      : {}),
    ...(access.sign_in === 'required' ? { signIn: signInUrl(call) } : {}),
    invites: access.invitation === 'required',
    protects: onwards.length > 0 || (config.protect?.some((site) => site.sale === sale) ?? false),
    paymentPage: config.PAYMENT_PAGE,
    scheduleUrl: config.SCHEDULE_URL,
    onwards,
    sections: sections.filter((section) => section !== undefined),
    shows,
  }
}

/** The requirements and offers of the sale's other queues, for visitors who may join one of them. */
function othersOf({ line, policy: { lines } }: Moment, call: Call) {
  const others = lines.filter((one) => one.line !== line)
  const early = lines.find((one) => one.line === line)?.opens_early_seconds ?? 0
  return {
    ...(others.some(({ access }) => access.sign_in === 'required') ? { othersSignIn: signInUrl(call) } : {}),
    othersInvite: others.some(({ access }) => access.invitation === 'required'),
    othersOpenEarlier: others.some(({ opens_early_seconds }) => opens_early_seconds > early),
  }
}

/** The sale's own brand, otherwise the configured one. Without a name it gets that of the sale. */
export function brandOf({ brand }: Config, sale: string, saleName: string, goods: GoodsDocument | null): Brand {
  const { shop, logo, accent, sizes } = goods?.brand ?? {}
  return {
    name: shop ?? brand.name ?? saleName,
    logo: logo === undefined ? (shop === undefined ? brand.logo : undefined) : logoPath(logo, sizes?.logo),
    sheet: accent === undefined ? brand.sheet : `/sales/${sale}/brand.css?v=${goods?.version}`,
    legal: brand.legal,
  }
}

/** The texts for each version of a sale's goods, with those of its brand on top. */
const ownWords = new WeakMap<GoodsDocument, Config['WORDS']>()

export function wordsOf({ WORDS }: Config, goods: GoodsDocument | null): Config['WORDS'] {
  const own = goods?.brand?.words
  if (!goods || !own) return WORDS
  const known = ownWords.get(goods) ?? withOwnWords(own, WORDS).words
  ownWords.set(goods, known)
  return known
}

// -- Problems -------------------------------------------------------------------------------------------------------

/** Converts a problem to a page for clients that accept HTML. Any other response stays unchanged. */
export function problemAsPage(response: Response, call: Call): Promise<Response> | Response {
  // The origin's response to HEAD has no body from which a page could be made.
  const isProblem =
    call.request.method !== 'HEAD' &&
    response.status >= 400 &&
    response.headers.get('content-type') === 'application/problem+json'
  return isProblem && wantsHtml(call.request) ? problemPage(response, call) : response
}

/** A problem as a page with the problem's status and headers. */
async function problemPage(response: Response, call: Call): Promise<Response> {
  const { request, config } = call
  const { lang, isChosen } = languageOf(call)
  const problem = await response.json<Problem>()
  const [, root, sale, under] = pathOf(request.url).split('/', 4)
  const known = root === 'sales' && sale !== undefined && !problem.type.endsWith('/unknown-sale')
  const home = under === 'line' ? `/sales/${sale}/line` : `/sales/${sale}`
  const page = renderProblem(problem, {
    lang,
    words: config.WORDS[lang],
    brand: brandOf(config, '', 'Waiting room', null),
    home: known ? home : null,
    front: config.protect ? null : '/',
    // Reloading the response to a form would request something else.
    mayReload: request.method === 'GET',
    choseLanguage: isChosen,
  })
  const headers = new Headers(response.headers)
  for (const [name, value] of Object.entries(PAGE_HEADERS)) headers.set(name, value)
  return new Response(page, { status: response.status, headers })
}
