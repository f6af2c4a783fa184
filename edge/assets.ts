/**
 * The pages' style sheet and script, embedded by build.ts, served under names that hash their content and so never
 * change: a browser asks for each of them once.
 */
import { bytesToHex } from '@noble/hashes/utils.js'

export interface Asset {
  readonly path: string
  readonly type: string
  readonly body: string
}

export interface Assets {
  readonly style: Asset
  /** For each language a script that speaks it. */
  readonly scripts: Readonly<Record<string, Asset>>
  readonly proofStyle: Asset
  readonly proofScript: Asset
  readonly proofWorker: Asset
}

declare const __ASSETS__: Assets

const none: Asset = { path: '/assets/none', type: 'text/plain', body: '' }

/** Without a build, as in a unit test, there are none to be had. The last three are for the proof of work alone. */
const { style, scripts, proofStyle, proofScript, proofWorker }: Assets =
  typeof __ASSETS__ === 'undefined'
    ? { style: none, scripts: {}, proofStyle: none, proofScript: none, proofWorker: none }
    : __ASSETS__

export { proofScript, proofStyle, style }

export const scriptIn = (language: string): Asset => scripts[language] ?? none

/** An asset made while the Worker runs: a brand's style sheet. */
export async function namedByContent(ending: string, type: string, body: string): Promise<Asset> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body))
  const hash = bytesToHex(new Uint8Array(digest)).slice(0, 16)
  return { path: `/assets/${hash}.${ending}`, type, body }
}

const FOREVER = 'public, max-age=31536000, immutable'

export function asset(path: string, brandStyle: Asset | null): Response | null {
  const all = [style, ...Object.values(scripts), brandStyle, proofStyle, proofScript, proofWorker]
  const found = all.find((one) => one?.path === path)
  if (!found) return null
  return new Response(found.body, {
    headers: {
      'content-type': `${found.type}; charset=utf-8`,
      'cache-control': FOREVER,
      'x-content-type-options': 'nosniff',
    },
  })
}
