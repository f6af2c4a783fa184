/** Mails before an order: visitors request one about their turn or a restock, and readers of mails end them. */
import { PUBLIC_LINE } from '../../shared/api/access.ts'
import { MailRequest } from '../../shared/api/internal.ts'
import { parse } from '../../shared/parse.ts'
import { CACHE_TTL, cacheHeaders } from '../http/cache.ts'
import { type Call, formFields, NO_STORE, refuse, seeOther } from '../http/call.ts'
import { limitAddress } from '../http/limits/rate-limits.ts'
import { tellOrigin } from '../http/origin.ts'
import { renderSale, renderStop } from '../pages/index.ts'
import { publicNow } from '../queue/sale-now.ts'
import { MAILED } from '../sale/visitor-page.ts'
import { brandOf, headersOf, PAGE_HEADERS, viewOf } from '../view/respond.ts'
import { lineOf } from '../visitor/credentials.ts'
import { keepLanguage, languageOf, sharedLanguage } from '../visitor/language.ts'
import { requirePlace } from '../visitor/visitor.ts'

/**
 * The route `POST /sales/{sale}/mail`: requests a mail about the visitor's turn, or about a restock if all is sold.
 */
export async function requestMail(sale: string, call: Call): Promise<Response> {
  limitAddress('mail', call.config.JOINS_PER_ADDRESS, call)
  const { email } = (await formFields(call.request)) ?? refuse('invalid-request')
  const { schedule } = await publicNow(sale, call)
  const about = schedule.phase === 'sold_out' ? 'restock' : 'turn'
  const claims = about === 'turn' ? (await requirePlace(sale, call)).claims : null
  const asked = parse(MailRequest, {
    about,
    email,
    language: languageOf(call).lang,
    line: claims ? lineOf(claims) : PUBLIC_LINE,
    visitor: claims?.sub ?? null,
    number: claims?.num ?? null,
  })
  await tell(`/sales/${sale}/mail-asks`, asked, call)
  return seeOther(about === 'turn' ? `/sales/${sale}/line?${MAILED}` : `/sales/${sale}/mail`)
}

/** The route `GET /sales/{sale}/mail`: the confirmation, which is the same for all. */
export async function mailedPage(sale: string, call: Call): Promise<Response> {
  const now = await publicNow(sale, call)
  keepLanguage(call)
  const view = await viewOf(now, null, { kind: 'mailed' }, call, sharedLanguage(call))
  return new Response(renderSale(view), { headers: { ...headersOf(view), ...cacheHeaders(sale, CACHE_TTL.landing) } })
}

/**
 * The route `/mail/stop/{id}/{mac}`, for an order or a request, with the MAC that only its mail contains. `GET` asks
 * for confirmation, because programs open links in mails too. `POST`, which a mail program may send by itself (RFC
 * 8058), ends these mails to the address.
 */
export async function stopMail(id: string, mac: string, call: Call): Promise<Response> {
  // The limit is generous, because a mail provider calls for many readers.
  limitAddress('mail stop', call.config.STATUS_PER_ADDRESS, call)
  const isDone = call.request.method === 'POST'
  if (isDone) await tell(`/mail/stop/${id}/${mac}`, null, call)
  const { lang } = languageOf(call)
  const words = call.config.WORDS[lang]
  const brand = brandOf(call.config, '', words.stopMail[0], null)
  return new Response(renderStop({ lang, words, brand, isDone }), {
    headers: { ...PAGE_HEADERS, 'cache-control': NO_STORE },
  })
}

/** The response is the same for an unknown address and for one that refuses mails. */
async function tell(path: string, body: object | null, call: Call): Promise<void> {
  const response = await tellOrigin('POST', path, body, call)
  await response.body?.cancel()
}
