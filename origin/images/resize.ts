/**
 * Makes of a picture what pages show: a few widths, as WebP and as JPEG, upright and without what a camera notes in it. Only
 * well-known formats of pixels are read, and only so many pixels.
 */
import sharp, { type Sharp } from 'sharp'
import type { PictureSize } from '../../shared/api/goods.ts'

export const WIDTHS = [320, 640, 960, 1280, 1920] as const
/** Of a picture made for a page: what is taller is made smaller. */
const MAX_HEIGHT = 4_000
const MAX_PIXELS = 50_000_000
const QUALITY = 78
/** For a picture in all its sizes: the largest photograph takes a second or two, what is made to be slow no more than this. */
const MAX_MS = 10_000

export const FORMATS = { webp: 'image/webp', jpg: 'image/jpeg' } as const
export type Format = keyof typeof FORMATS

interface Rendition {
  readonly width: number
  readonly format: Format
  readonly bytes: Uint8Array
}

/** What was sent is no picture that can be shown; the message says why. */
export class NoPicture extends Error {
  override readonly name = 'NoPicture'
}
const tooSlow = () => new NoPicture('a picture that takes too long to resize')
const isTooSlow = (error: unknown) => /^timeout/i.test((error as Error).message)

// One thread for each picture, and no reader of formats such as SVG, which are programs for a parser.
sharp.concurrency(1)
sharp.cache(false)
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif'].map((format) => `VipsForeignLoad${format}Buffer`),
})

/** Throws NoPicture. */
export async function resize(
  bytes: Uint8Array,
  maxMs = MAX_MS,
): Promise<PictureSize & { readonly renditions: readonly Rendition[] }> {
  const untilMs = performance.now() + maxMs
  const inTime = () => {
    const leftMs = untilMs - performance.now()
    if (leftMs <= 0) throw tooSlow()
    return { seconds: Math.ceil(leftMs / 1_000) }
  }
  const { data, info } = await decode(bytes, inTime())
  const { width, height, channels } = info
  const raw = { width, height, channels }
  const narrower = WIDTHS.filter((one) => one <= width)
  const widths = narrower.length > 0 ? narrower : [width]
  const renditions: Rendition[] = []
  for (const one of widths) {
    const resized = sharp(data, { raw }).resize(one).timeout(inTime())
    const make = (made: Sharp) =>
      made.toBuffer().catch((error: Error) => {
        throw isTooSlow(error) ? tooSlow() : error
      })
    const jpeg = resized.clone().flatten({ background: 'white' }).jpeg({ quality: QUALITY, mozjpeg: true })
    renditions.push(
      { width: one, format: 'webp', bytes: await make(resized.webp({ quality: QUALITY })) },
      { width: one, format: 'jpg', bytes: await make(jpeg) },
    )
  }
  return { width, height, widths, renditions }
}

/** Its first frame, as pixels, no larger than the largest rendition. */
async function decode(bytes: Uint8Array, timeout: { readonly seconds: number }) {
  try {
    return await sharp(bytes, { limitInputPixels: MAX_PIXELS })
      .autoOrient()
      .resize({ width: WIDTHS.at(-1), height: MAX_HEIGHT, fit: 'inside', withoutEnlargement: true })
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .timeout(timeout)
      .toBuffer({ resolveWithObject: true })
  } catch (error) {
    const { message } = error as Error
    if (isTooSlow(error)) throw tooSlow()
    if (/pixel limit/.test(message)) throw new NoPicture(`more than ${MAX_PIXELS / 1_000_000} million pixels`)
    throw new NoPicture('not a picture in JPEG, PNG, WebP, GIF or AVIF')
  }
}
