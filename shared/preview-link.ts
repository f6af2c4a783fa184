/**
 * A link to the previews of a sale's pages: signed by the origin for an operator, checked by the edge, good for a while and for
 * the pages of one console to frame.
 */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { isSame } from './keys.ts'

interface Link {
  readonly sale: string
  readonly expiresMs: number
  /** The console's own scheme and host, the only one that may frame the pages. */
  readonly from: string
}

/** Nothing else is signed by this secret; the words say so of this too. */
const signatureOf = (edgeToken: string, { sale, expiresMs, from }: Link) =>
  bytesToHex(hmac(sha256, utf8ToBytes(edgeToken), utf8ToBytes(`preview\n${sale}\n${expiresMs}\n${from}`)))

/** The query of the link, by name. */
export function previewQuery(edgeToken: string, link: Link): Record<'expires' | 'from' | 'signature', string> {
  const { expiresMs, from } = link
  return { expires: String(expiresMs), from, signature: signatureOf(edgeToken, link) }
}

/** Who may frame the page; null for a link that is wrong, or of another sale, or has expired. */
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
