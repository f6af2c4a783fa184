/**
 * A brand's colours as a style sheet. A shop that sets an accent need not consider contrast: text on the accent, and
 * text in the accent, get a readable colour here (WCAG 2.2, at least 4.5 to 1).
 */

import type { Texts } from '../../shared/api/fields.ts'
import type { PictureSize } from '../../shared/api/goods.ts'

/** The shop's name and look. */
export interface Brand {
  readonly name: string
  /** The address of a picture that replaces the name: a path of this host, or a `data:` URI. */
  readonly logo?: string | undefined
  /** The path of the brand's own style sheet, which only sets custom properties. */
  readonly sheet?: string | undefined
  /** The shop's legal pages, to which each footer leads. */
  readonly legal?: readonly { readonly name: Texts; readonly url: string }[] | undefined
}

/** Hex colours such as #0b6450. Without `accentDark`, that colour is derived from `accent`. */
interface BrandColours {
  readonly accent: string
  readonly accentDark?: string | undefined
}

export const HEX_COLOUR = /^#[0-9a-f]{6}$/i
/**
 * The values of `--paper` and `--raised` in styles/tokens.css, and the share of the accent in `--tint`, on which it
 * must be readable too.
 */
const LOOKS = {
  light: { paper: '#ffffff', raised: '#f2f5f3', tint: 0.08 },
  dark: { paper: '#0a0d0c', raised: '#151a18', tint: 0.12 },
} as const
type Look = (typeof LOOKS)[keyof typeof LOOKS]
/** One of these two is readable on any accent. */
const INKS = ['#ffffff', '#000000'] as const
const READABLE = 4.5

/** The logo in the width that a header needs, if it is a stored picture with several widths. */
export const logoPath = (logo: string, { widths: [least = 320] }: Pick<PictureSize, 'widths'> = { widths: [] }) =>
  logo.startsWith('/images/') ? `${logo}/${least}.webp` : logo

export function brandSheet({ accent, accentDark }: BrandColours): string {
  const light = rules(accent, LOOKS.light)
  const dark = rules(accentDark ?? readable(accent, accent, LOOKS.dark), LOOKS.dark)
  return `:root{${light}}@media (prefers-color-scheme:dark){:root{${dark}}}`
}

function rules(accent: string, look: Look): string {
  const [white, black] = INKS
  const on = contrast(accent, white) >= contrast(accent, black) ? white : black
  return `--accent:${accent};--on-accent:${on};--accent-text:${readable(accent, accent, look)}`
}

/**
 * Returns the colour itself if it is readable on every background that has this accent, otherwise the first readable
 * step towards black or white.
 */
function readable(colour: string, accent: string, { paper, raised, tint }: Look): string {
  const [white, black] = INKS
  const grounds = [paper, raised, mix(paper, accent, tint)]
  const towards = contrast(paper, white) > contrast(paper, black) ? white : black
  for (let step = 0; step < 20; step++) {
    const mixed = mix(colour, towards, step / 20)
    if (grounds.every((ground) => contrast(mixed, ground) >= READABLE)) return mixed
  }
  return towards
}

/** The contrast of two colours, from 1 to 21 (WCAG 2.2). */
export function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)]
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05)
}

function luminance(colour: string): number {
  const [r, g, b] = channels(colour).map((channel) => {
    const part = channel / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

export function mix(from: string, to: string, share: number): string {
  const other = channels(to)
  return `#${channels(from)
    .map((channel, i) => Math.round(channel + ((other[i] ?? 0) - channel) * share))
    .map((channel) => channel.toString(16).padStart(2, '0'))
    .join('')}`
}

const channels = (colour: string) => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))
