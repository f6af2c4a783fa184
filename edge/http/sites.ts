/** The sites before which the waiting room stands, by `PROTECT`: which of them holds a request. Pure. */
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import * as v from 'valibot'
import { SaleId } from '../../shared/api/fields.ts'
import { readTemplate, type TemplateError } from '../../shared/lib/mustache.ts'
import { isHeld, looselyRead, pathTest } from './paths.ts'
import { url } from './setting-forms.ts'

const MAX_SESSION_SECONDS = 24 * 3600
/** Patterns as one text, separated by spaces or commas, or as a list. */
const Patterns = v.union(
  [v.string(), v.array(v.string())],
  'must be path patterns such as "/checkout/*", as a text or a list',
)
const textOf = (patterns: v.InferOutput<typeof Patterns>) =>
  typeof patterns === 'string' ? patterns : patterns.join(' ')
const seconds = v.pipe(v.number('must be a number'), v.integer('must be whole seconds'))

/** A page of the site's own for those who wait, as Cloudflare's waiting rooms have. */
const WaitingPage = v.pipe(
  v.string(),
  v.rawTransform(({ dataset: { value }, addIssue, NEVER }) => {
    try {
      return readTemplate(value)
    } catch (error) {
      addIssue({ message: `is no template of mustache: it ${(error as TemplateError).message}` })
      return NEVER
    }
  }),
)

const Site = v.pipe(
  v.strictObject(
    {
      /** The host that visitors ask for; any host without it. */
      host: v.optional(v.pipe(v.string(), v.regex(/^[\w.-]+(:\d+)?$/, 'must be a host name'), v.toLowerCase())),
      paths: Patterns,
      bypass: v.optional(Patterns, ''),
      upstream: url,
      sale: SaleId,
      session_seconds: v.optional(
        v.pipe(seconds, v.minValue(60, 'at least 60'), v.maxValue(MAX_SESSION_SECONDS, 'at most 86,400')),
        1_800,
      ),
      share: v.optional(
        v.pipe(v.number('must be a number'), v.gtValue(0, 'must be above 0'), v.maxValue(1, 'at most 1')),
        1,
      ),
      custom_page_html: v.optional(WaitingPage),
    },
    ({ expected }) => (expected === 'never' ? 'is not a field of a site' : 'must be a site'),
  ),
  v.transform(({ paths, bypass, session_seconds, custom_page_html, ...site }) => ({
    ...site,
    waitingPage: custom_page_html,
    // Protected paths are read as loosely as any site may. Open paths are matched exactly.
    isProtected: pathTest(textOf(paths), looselyRead),
    isOpen: pathTest(textOf(bypass)),
    sessionSeconds: session_seconds,
  })),
)
export type Site = v.InferOutput<typeof Site>

/** The setting `PROTECT`: a list of sites as JSON. Empty: the Worker stands before no other site. */
export const Sites = v.pipe(
  v.string(),
  v.transform((text) => text || '[]'),
  v.parseJson(undefined, 'must be a list as JSON'),
  v.array(Site, 'must be a list as JSON'),
)

/** The sites of a host, in their order. */
export function sitesOf(sites: readonly Site[], host: string): readonly Site[] {
  const [name = ''] = host.toLowerCase().split(':', 1)
  return sites.filter((site) => site.host === undefined || site.host === host.toLowerCase() || site.host === name)
}

/**
 * The site that takes a request, and whether the visitor needs an admission for it. A path that no site of the host
 * protects passes to its first one. Undefined for a host without a site.
 */
export function siteFor(
  sites: readonly Site[],
  host: string,
  pathname: string,
): { site: Site; isHeld: boolean } | undefined {
  const ofHost = sitesOf(sites, host)
  const holding = ofHost.find(({ isProtected, isOpen }) => isHeld(pathname, isProtected, isOpen))
  const site = holding ?? ofHost[0]
  return site && { site, isHeld: holding !== undefined }
}

/**
 * True for the share of visitors who are sent through the waiting room. An address is always in it or never, and
 * nobody chooses which, since the choice is keyed; a visitor whose address is unknown is in it.
 */
export function isInShare({ share, sale }: Pick<Site, 'share' | 'sale'>, network: string, secret: string): boolean {
  if (share >= 1 || network === '') return true
  const digest = sha256(utf8ToBytes(`${secret} ${sale} ${network}`))
  return new DataView(digest.buffer, digest.byteOffset).getUint32(0) < share * 2 ** 32
}
