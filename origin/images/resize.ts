/**
 * Makes the renditions of a picture that pages show: a few widths, as WebP and as JPEG, upright and without the
 * camera's metadata. It reads only well-known pixel formats and limits the number of pixels.
 */
import sharp, { type Sharp } from 'sharp'
import type { PictureSize } from '../../shared/api/goods.ts'

export const WIDTHS = [320, 640, 960, 1280, 1920] as const
/** A rendition that would be taller is made smaller. */
const MAX_HEIGHT = 4_000
const MAX_PIXELS = 50_000_000
const QUALITY = 78
/**
 * One picture in all its sizes may take this long. The largest photograph takes a second or two; the limit stops
 * files that were made to be slow.
 */
const MAX_MS = 10_000

export const FORMATS = { webp: 'image/webp', jpg: 'image/jpeg' } as const
export type Format = keyof typeof FORMATS

interface Rendition {
  readonly width: number
  readonly format: Format
  readonly bytes: Uint8Array
}

/** The uploaded file is not a picture that can be shown. The message says why. */
export class NoPicture extends Error {
  override readonly name = 'NoPicture'
}
const tooSlow = () => new NoPicture('a picture that takes too long to resize')
const isTooSlow = (error: unknown) => /^timeout/i.test((error as Error).message)

// Each picture uses one thread. Readers of formats such as SVG are disabled, because these formats contain programs.
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

/** Decodes the first frame to pixels, no larger than the largest rendition. */
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
