/**
 * The pages' style sheets and scripts, embedded by dev/build.ts and served under names that hash their content, so a browser
 * loads each once. While a version rolls out, a page of one version may ask the other for its assets: that one sends its
 * own, for the page at hand and for no cache.
 */
import { bytesToHex } from '@noble/hashes/utils.js'

export interface Asset {
  readonly path: string
  readonly type: string
  readonly body: string
  /** True if the body is not text: it is written in base64. */
  readonly isBinary?: true
  /** Its content security policy: of a worker that outlives its page. */
  readonly policy?: string
}

const NAMES = [
  'style',
  'script',
  'extras',
  'proofStyle',
  'proofScript',
  'proofWorker',
  'turnstileScript',
  'paymentScript',
  'hallStyle',
  'mapScript',
  'turnScript',
  'frontScript',
  'searchScript',
  'pushWorker',
  'shareImage',
] as const
type Assets = Readonly<Record<(typeof NAMES)[number], Asset>>
declare const __ASSETS__: Assets

const NONE: Asset = { path: '/assets/none', type: 'text/plain', body: '' }
/** Empty without a build, as in a unit test. */
const ASSETS =
  typeof __ASSETS__ === 'undefined' ? (Object.fromEntries(NAMES.map((name) => [name, NONE])) as Assets) : __ASSETS__

/** `proof..` and `turnstile..` are for sales that require a proof or a check. */
export const {
  style,
  script,
  extras,
  proofStyle,
  proofScript,
  proofWorker,
  turnstileScript,
  paymentScript,
  hallStyle,
  mapScript,
  turnScript,
  frontScript,
  searchScript,
  pushWorker,
  shareImage,
} = ASSETS

/** An asset under a name that hashes its content: by the build, or while the Worker runs (a brand's style sheet). */
export async function namedByContent(name: string, ending: string, type: string, body: string): Promise<Asset> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body))
  const hash = bytesToHex(new Uint8Array(digest)).slice(0, 16)
  return { path: `/assets/flash-sale-${name}.${hash}.${ending}`, type, body }
}

/** The name of an asset in every version; before somebody else's site no other path may be taken for ours. */
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
