/** A picture of the goods: in the width and format that the browser prefers. One that is elsewhere, or has no widths, stays as it is. */
import type { Image } from '../../../shared/api/goods.ts'
import { type Html, html } from '../html.ts'

/** Of a picture in a preview, whose own are not known yet, in pixels. */
const USUAL_WIDTHS = [320, 640]

interface Shown {
  /** How wide the page shows it, as the `sizes` of an `<img>`. */
  readonly sizes: string
  /** In the first screen: loaded at once. */
  readonly eager?: boolean
}

/** A name of ours; the file of each width and format is below it. */
const STORED = /^\/images\/[0-9a-f]{32}$/

/** The files of a picture of ours by their widths, as the `srcset` of an `<img>`. */
export const fileSet = ({ url, widths = USUAL_WIDTHS }: Image, ending: 'webp' | 'jpg') =>
  widths.map((one) => `${url}/${one}.${ending} ${one}w`).join(', ')

/** The file for a browser that does not choose among them. */
export const middleFile = ({ url, widths = USUAL_WIDTHS }: Image) =>
  `${url}/${widths[Math.floor(widths.length / 2)]}.jpg`

export function picture(shown: Image, { sizes, eager }: Shown): Html {
  const { url, alt, width, height } = shown
  const size = width !== undefined && height !== undefined && html`width="${width}" height="${height}"`
  const loading = eager ? html`fetchpriority="high"` : html`loading="lazy"`
  const image = (src: string, more?: Html) =>
    html`<img src="${src}" ${more} alt="${alt}" ${size} ${loading} decoding="async">`
  if (!STORED.test(url)) return image(url)
  return html`<picture><source type="image/webp" srcset="${fileSet(shown, 'webp')}" sizes="${sizes}">${image(middleFile(shown), html`srcset="${fileSet(shown, 'jpg')}" sizes="${sizes}"`)}</picture>`
}
