/**
 * A brand's colours as a style sheet. Whoever sets an accent need not think of contrast: text on the accent, and text in it,
 * get a colour that can be read here (WCAG 2.2, at least 4.5 to 1).
 */

/** The shop's name and look. */
export interface Brand {
  readonly name: string
  /** The address of a picture to show instead of the name: a path of this host, or a `data:` URI. */
  readonly logo?: string | undefined
  /** The path of the brand's own style sheet, which only sets custom properties. */
  readonly sheet?: string | undefined
}

/** Hex colours such as #0b6450; without `accentDark`, it follows from `accent`. */
interface BrandColours {
  readonly accent: string
  readonly accentDark?: string | undefined
}

export const HEX_COLOUR = /^#[0-9a-f]{6}$/i
/** The background in styles/ground.css on which an accent is hardest to read: the paper of the light look, the card of the dark one. */
const GROUND = { light: '#f2f4f3', dark: '#151c1a' } as const
/** One of these two can be read on any accent. */
const INKS = ['#ffffff', '#000000'] as const
const READABLE = 4.5

export function brandSheet({ accent, accentDark }: BrandColours): string {
  const light = rules(accent, GROUND.light)
  const dark = rules(accentDark ?? readable(accent, GROUND.dark), GROUND.dark)
  return `:root{${light}}@media (prefers-color-scheme:dark){:root{${dark}}}`
}

function rules(accent: string, ground: string): string {
  const [white, black] = INKS
  const on = contrast(accent, white) >= contrast(accent, black) ? white : black
  return `--accent:${accent};--on-accent:${on};--accent-text:${readable(accent, ground)}`
}

/** The colour itself if it can be read on the ground, else the first step towards black or white that can. */
function readable(colour: string, ground: string): string {
  const [white, black] = INKS
  const towards = contrast(ground, white) > contrast(ground, black) ? white : black
  for (let step = 0; step < 20; step++) {
    const mixed = mix(colour, towards, step / 20)
    if (contrast(mixed, ground) >= READABLE) return mixed
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

function mix(from: string, to: string, share: number): string {
  const other = channels(to)
  return `#${channels(from)
    .map((channel, i) => Math.round(channel + ((other[i] ?? 0) - channel) * share))
    .map((channel) => channel.toString(16).padStart(2, '0'))
    .join('')}`
}

const channels = (colour: string) => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))
