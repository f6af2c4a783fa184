/**
 * A link to the previews of a sale's pages. The origin signs it for an operator, and the edge verifies it. It is
 * valid for a limited time, and only one console may frame the pages.
 */
import { isSame } from './keys.ts'
import { hmacHex } from './lib/hash.ts'

interface Link {
  readonly sale: string
  readonly expiresMs: number
  /** The scheme and host of the console, which is the only one that may frame the pages. */
  readonly from: string
}

/** The prefix keeps these signatures distinct from any others made with the same secret. */
const signatureOf = (edgeToken: string, { sale, expiresMs, from }: Link) =>
  hmacHex(edgeToken, `preview\n${sale}\n${expiresMs}\n${from}`)

/** The parameters of the link by name. */
export function previewQuery(edgeToken: string, link: Link): Record<'expires' | 'from' | 'signature', string> {
  const { expiresMs, from } = link
  return { expires: String(expiresMs), from, signature: signatureOf(edgeToken, link) }
}

/** Returns the address that may frame the page; null for a link that is invalid, for another sale, or expired. */
export function framerOf(
  edgeToken: string,
  sale: string,
  { expires, from = '', signature = '' }: Readonly<Record<string, string>>,
  nowMs: number,
): string | null {
  const expiresMs = Number(expires)
  const expected = signatureOf(edgeToken, { sale, expiresMs, from })
  return isSame(expected, signature) && nowMs < expiresMs ? from : null
}
