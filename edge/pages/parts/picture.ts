/**
 * A picture of the goods in the width and format that the browser prefers. A picture on another host, or without
 * several widths, is shown unchanged.
 */
import type { Image } from '../../../shared/api/goods.ts'
import { type Html, html } from '../html.ts'

/** The widths of a picture in a preview, whose own are not known yet, in pixels. */
const USUAL_WIDTHS = [320, 640]

interface Shown {
  /** The displayed width, as the `sizes` of an `<img>`. */
  readonly sizes: string
  /** True for a picture in the first screen, which is loaded at once. */
  readonly eager?: boolean
}

/** The path of a stored picture; the file of each width and format is below it. */
const STORED = /^\/images\/[0-9a-f]{32}$/

/** The files of a stored picture by width, as the `srcset` of an `<img>`. */
export const fileSet = ({ url, widths = USUAL_WIDTHS }: Image, ending: 'webp' | 'jpg') =>
  widths.map((one) => `${url}/${one}.${ending} ${one}w`).join(', ')

/** The file for a browser that does not choose among several. */
export const middleFile = ({ url, widths = USUAL_WIDTHS }: Image) =>
  `${url}/${widths[Math.floor(widths.length / 2)]}.jpg`

export function picture(shown: Image, { sizes, eager }: Shown): Html {
  const { url, alt, width, height } = shown
  const size = width !== undefined && height !== undefined && html`width="${width}" height="${height}"`
  const loading = eager ? html`fetchpriority="high"` : html`loading="lazy"`
  const image = (src: string, more?: Html) =>
    html`<img src="${src}" ${more} alt="${alt}" ${size} ${loading} decoding="async">`
  if (!STORED.test(url)) return image(url)
  return html`<picture><source type="image/webp" srcset="${fileSet(shown, 'webp')}"
    sizes="${sizes}">${image(middleFile(shown), html`srcset="${fileSet(shown, 'jpg')}" sizes="${sizes}"`)}</picture>`
}
