/**
 * The pages' style sheets and scripts. dev/lib/build.ts embeds them, and they are served under names that hash their
 * content, so a browser loads each once. During a deployment a page of one version may request an asset of the other.
 * The Worker then sends its own version, which suits the page, without caching.
 */
import { bytesToHex } from '@noble/hashes/utils.js'

export interface Asset {
  readonly path: string
  readonly type: string
  readonly body: string
  /** True if the body is binary data in base64. */
  readonly isBinary?: true
  /** The content security policy of the asset. A worker that outlives its page needs one. */
  readonly policy?: string
}

const NAMES = [
  'style',
  'script',
  'extras',
  'views',
  'proofStyle',
  'proofScript',
  'proofWorker',
  'turnstileScript',
  'paymentScript',
  'hallStyle',
  'mapScript',
  'turnScript',
  'addressScript',
  'prepareScript',
  'orderScript',
  'frontScript',
  'searchScript',
  'pushWorker',
  'shareImage',
  'favicon',
  'openApi',
  'referenceScript',
  'referenceStyle',
] as const
type Assets = Readonly<Record<(typeof NAMES)[number], Asset>>
declare const __ASSETS__: Assets

const NONE: Asset = { path: '/assets/none', type: 'text/plain', body: '' }
/** The list is empty without a build, as in a unit test. */
const ASSETS =
  typeof __ASSETS__ === 'undefined' ? (Object.fromEntries(NAMES.map((name) => [name, NONE])) as Assets) : __ASSETS__

/** The assets `proof..` and `turnstile..` are for sales that require a proof or a check. */
export const {
  style,
  script,
  extras,
  views,
  proofStyle,
  proofScript,
  proofWorker,
  turnstileScript,
  paymentScript,
  hallStyle,
  mapScript,
  turnScript,
  addressScript,
  prepareScript,
  orderScript,
  frontScript,
  searchScript,
  pushWorker,
  shareImage,
  favicon,
  openApi,
  referenceScript,
  referenceStyle,
} = ASSETS

/**
 * Makes an asset under a name that hashes its content, in the build or while the Worker runs (a brand's style sheet).
 */
export async function namedByContent(name: string, ending: string, type: string, body: string): Promise<Asset> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body))
  const hash = bytesToHex(new Uint8Array(digest)).slice(0, 16)
  return { path: `/assets/flash-sale-${name}.${hash}.${ending}`, type, body }
}

/**
 * The name of an asset without its hash, the same in every version. A protected site may have similar paths, so the
 * whole form is matched.
 */
const unhashed = (path: string) => path.replace(/^(\/assets\/flash-sale-[a-z-]+)\.[0-9a-f]{16}\./, '$1.')

const FOREVER = 'public, max-age=31536000, immutable'
const NEVER = 'no-store'

export function asset(path: string, brandStyle: Asset | null): Response | null {
  const all = [...Object.values(ASSETS), brandStyle]
  const exact = all.find((one) => one?.path === path)
  const found = exact ?? all.find((one) => one && unhashed(one.path) === unhashed(path))
  if (!found) return null
  const body = found.isBinary ? Uint8Array.from(atob(found.body), (byte) => byte.charCodeAt(0)) : found.body
  return new Response(body, {
    headers: {
      'content-type': found.isBinary ? found.type : `${found.type}; charset=utf-8`,
      'cache-control': exact ? FOREVER : NEVER,
      'x-content-type-options': 'nosniff',
      ...(found.policy && { 'content-security-policy': found.policy }),
    },
  })
}
