/** Serves pictures to everyone, at addresses whose content never changes, and takes uploads from operators. */
import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import { exactly } from '../../shared/api/fields.ts'
import { bodyTooLarge } from '../../shared/parse.ts'
import { invalidField, problem } from '../../shared/problem.ts'
import { headerOf, parseBody, readBytes, refuse } from '../lib/http/request.ts'
import { type DownloadOptions, download, MAX_PICTURE_BYTES } from './download.ts'
import { type Images, middleOf } from './images.ts'
import { NoPicture } from './resize.ts'

/** The limit includes the boundaries and headers of a form. */
const MAX_FORM_BYTES = MAX_PICTURE_BYTES + 64 * 1024
const IMMUTABLE = { 'cache-control': 'public, max-age=31536000, immutable', 'x-content-type-options': 'nosniff' }

const FromElsewhere = exactly({ url: v.string('the address of a picture is required') })

interface AdminImageDeps {
  readonly images: Images
  readonly downloads: DownloadOptions
}

export function adminImageRoutes({ images, downloads }: AdminImageDeps) {
  /** The bytes of an uploaded picture, sent as a body or in a form, and the field that an error names. */
  async function sent(c: Context): Promise<{ readonly field: string; readonly read: () => Promise<Uint8Array> }> {
    const type = headerOf(c, 'content-type') ?? ''
    if (/^multipart\/form-data\b/i.test(type)) {
      const file = await fileIn(await readBytes(c, MAX_FORM_BYTES), type)
      return { field: 'file', read: async () => file }
    }
    if (/^(image\/|application\/octet-stream\b)/i.test(type)) {
      const bytes = await readBytes(c, MAX_PICTURE_BYTES)
      return { field: 'body', read: async () => bytes }
    }
    const { url } = parseBody(c, FromElsewhere, new TextDecoder().decode(await readBytes(c)))
    return { field: 'url', read: () => download(url, downloads) }
  }

  return new Hono().post('/images', async (c) => {
    const { field, read } = await sent(c)
    try {
      const { image, url, widths, width, height } = await images.add(await read())
      return c.json({ image, url, widths, width, height }, 201)
    } catch (error) {
      if (error instanceof NoPicture) return refuse(invalidField(field, error.message))
      throw error
    }
  })
}

/** The only file of a form. */
async function fileIn(body: Uint8Array<ArrayBuffer>, type: string): Promise<Uint8Array> {
  const form = await new Response(body, { headers: { 'content-type': type } }).formData().catch(() => {
    return refuse(problem('invalid-request', { detail: 'The body is no form with a file.' }))
  })
  const [file, ...others] = [...form.values()].filter((value) => value instanceof File)
  if (!file || others.length > 0) return refuse(invalidField('file', 'one file is required'))
  if (file.size > MAX_PICTURE_BYTES) return refuse(bodyTooLarge(MAX_PICTURE_BYTES))
  return file.bytes()
}

export function imageRoutes(images: Images): Hono {
  const none = () => refuse(problem('not-found', { detail: 'There is no such picture.' }))
  return new Hono()
    .get('/:image', async (c) => {
      const picture = (await images.find(`/images/${c.req.param('image')}`)) ?? none()
      return new Response(null, { status: 302, headers: { ...IMMUTABLE, location: middleOf(picture) } })
    })
    .get('/:image/:file', async (c) => {
      const { image, file } = c.req.param()
      const { bytes, type } = (await images.file(`/images/${image}`, file)) ?? none()
      const headers = { ...IMMUTABLE, etag: `"${image.slice(0, 16)}-${file}"`, 'content-type': type }
      if (c.req.header('if-none-match') === headers.etag) return new Response(null, { status: 304, headers })
      return new Response(new Uint8Array(bytes), { headers })
    })
}
