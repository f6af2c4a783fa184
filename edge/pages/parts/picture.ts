/** A picture of the goods: in the width and format that the browser prefers. One that is elsewhere, or has no widths, stays as it is. */
import { type Html, html } from '../html.ts'

/** The widths that an uploaded picture is resized to, in pixels, unless its own are known. */
export const PICTURE_WIDTHS = [320, 640, 960, 1280] as const

export interface Picture {
  /** `/images/<hash>`, or another address. */
  readonly url: string
  readonly alt: string
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly widths?: readonly number[] | undefined
}

interface Shown {
  /** How wide the page shows it, as the `sizes` of an `<img>`. */
  readonly sizes: string
  /** In the first screen: loaded at once. */
  readonly eager?: boolean
}

/** A name of ours; the file of each width and format is below it. */
const STORED = /^\/images\/[0-9a-f]{32}$/

export function picture({ url, alt, width, height, widths = PICTURE_WIDTHS }: Picture, { sizes, eager }: Shown): Html {
  const size = width !== undefined && height !== undefined && html`width="${width}" height="${height}"`
  const loading = eager ? html`fetchpriority="high"` : html`loading="lazy"`
  const image = (src: string, more?: Html) =>
    html`<img src="${src}" ${more} alt="${alt}" ${size} ${loading} decoding="async">`
  if (!STORED.test(url)) return image(url)
  const set = (ending: string) => widths.map((one) => `${url}/${one}.${ending} ${one}w`).join(', ')
  const middle = widths[Math.floor(widths.length / 2)]
  return html`<picture><source type="image/webp" srcset="${set('webp')}" sizes="${sizes}">${image(`${url}/${middle}.jpg`, html`srcset="${set('jpg')}" sizes="${sizes}"`)}</picture>`
}
