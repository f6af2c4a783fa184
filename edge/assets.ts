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

declare const __ASSETS__: Readonly<
  Record<'style' | 'script' | 'proofStyle' | 'proofScript' | 'proofWorker', Asset>
>

const none: Asset = { path: '/assets/none', type: 'text/plain', body: '' }

/** Without a build, as in a unit test, there are none to be had. The last three are for the proof of work alone. */
export const { style, script, proofStyle, proofScript, proofWorker } =
  typeof __ASSETS__ === 'undefined'
    ? { style: none, script: none, proofStyle: none, proofScript: none, proofWorker: none }
    : __ASSETS__

/** An asset made while the Worker runs: a brand's style sheet. */
export async function namedByContent(ending: string, type: string, body: string): Promise<Asset> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body))
  const hash = bytesToHex(new Uint8Array(digest)).slice(0, 16)
  return { path: `/assets/${hash}.${ending}`, type, body }
}

const FOREVER = 'public, max-age=31536000, immutable'

export function asset(path: string, brandStyle: Asset | null): Response | null {
  const all = [style, script, brandStyle, proofStyle, proofScript, proofWorker]
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
