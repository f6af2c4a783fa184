/**
 * The files that every public site has: what crawlers may read, whom to tell of a vulnerability, an icon; and the pages
 * that explain the types of problems.
 */
import { isProblemType, problem } from '../../shared/problem.ts'
import { REFERENCE_HEADERS, referencePage } from '../../shared/reference-page.ts'
import { CACHE_TTL, cacheTimes } from '../http/cache.ts'
import { type Call, hostOf, wantsJson } from '../http/call.ts'
import { favicon, openApi, referenceScript, referenceStyle } from '../pages/assets.ts'
import { renderProblemType } from '../pages/index.ts'
import { brandOf, PAGE_HEADERS } from '../view/respond.ts'
import { frontNow } from './listing.ts'

/** Pages of one visitor, and results that are different for each query. */
const NOT_FOR_CRAWLERS = ['/sales/*/line', '/sales/*/order', '/orders/', '/search', '/me/', '/mail/']

const cached = (type: string, ttl: Parameters<typeof cacheTimes>[0] = CACHE_TTL.search) => ({
  'content-type': type,
  ...cacheTimes(ttl),
})

/** `GET /robots.txt` (RFC 9309). */
export function robots(call: Call): Response {
  const lines = ['User-agent: *', ...NOT_FOR_CRAWLERS.map((path) => `Disallow: ${path}`), '']
  return new Response(`${lines.join('\n')}\nSitemap: ${hostOf(call)}/sitemap.xml\n`, {
    headers: cached('text/plain; charset=utf-8'),
  })
}

/** `GET /sitemap.xml`: the front, and the sales that search engines may index. */
export async function sitemap(call: Call): Promise<Response> {
  const { catalogue } = await frontNow(call)
  const paths = ['/', ...catalogue.sales.map(({ sale }) => `/sales/${sale}`)]
  const urls = paths.map((path) => `<url><loc>${hostOf(call)}${path}</loc></url>`)
  const body = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${urls.join('\n')}
</urlset>
`
  return new Response(body, { headers: cached('application/xml; charset=utf-8') })
}

/** Readers are told to read the file again after this time. */
const SECURITY_CONTACT_MS = 180 * 86_400_000

/** `GET /.well-known/security.txt` (RFC 9116); null if no contact is configured. */
export function securityText(call: Call): Response | null {
  const { config, nowMs } = call
  if (config.SECURITY_CONTACT === undefined) return null
  const expires = new Date(nowMs + SECURITY_CONTACT_MS).toISOString()
  const canonical = `${hostOf(call)}/.well-known/security.txt`
  return new Response(`Contact: ${config.SECURITY_CONTACT}\nExpires: ${expires}\nCanonical: ${canonical}\n`, {
    headers: cached('text/plain; charset=utf-8'),
  })
}

/** `GET /favicon.ico`, for clients that read no page. */
export const faviconFile = (): Response =>
  new Response(favicon.body, { headers: cached(favicon.type, { inBrowsers: 86_400, inCache: 86_400, stale: 0 }) })

/** `GET /openapi.json`: the interface of buyers (OpenAPI 3.1), which a tool on any page may read. */
export const openApiDocument = (): Response =>
  new Response(openApi.body, { headers: { ...cached(openApi.type), 'access-control-allow-origin': '*' } })

/** `GET /api`: the same interface as a page to read, and to try calls from. */
export const apiReference = (): Response =>
  new Response(referencePage({ script: referenceScript.path, style: referenceStyle.path }), {
    headers: { ...REFERENCE_HEADERS, ...cacheTimes(CACHE_TTL.search) },
  })

/** `GET /problems/{type}`: what the type of a problem means, as a page or as JSON; null if there is no such type. */
export function problemType(type: string, call: Call): Response | null {
  if (!isProblemType(type)) return null
  const { title, status, detail } = problem(type)
  if (wantsJson(call.request))
    return Response.json({ type: `/problems/${type}`, title, status, detail }, { headers: cached('application/json') })
  const page = renderProblemType(problem(type), {
    lang: 'en',
    words: call.config.WORDS.en,
    brand: brandOf(call.config, '', 'Waiting room', null),
  })
  return new Response(page, { headers: { ...PAGE_HEADERS, ...cacheTimes(CACHE_TTL.search) } })
}
