/** Pictures are uploaded or fetched, resized for pages, stored, and served with addresses that never change. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import sharp, { type Sharp } from 'sharp'
import { describe, expect, test } from 'vitest'
import { serveOnLoopback } from '../../dev/lib/loopback.ts'
import { ADMIN_TOKEN, useOrigin } from '../../test/lib/origin-process.ts'

const origin = useOrigin()

type Uploaded = Readonly<Record<'image' | 'url', string>> &
  Readonly<Record<'width' | 'height', number>> & { readonly widths: number[] }

async function upload(body: NonNullable<RequestInit['body']>, type?: string) {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, ...(type && { 'content-type': type }) }
  const response = await fetch(`${origin.url()}/admin/images`, { method: 'POST', headers, body })
  return { status: response.status, body: (await response.json()) as Uploaded }
}
const uploadFrom = (url: string) => upload(JSON.stringify({ url }), 'application/json')
const read = (path: string, headers: Record<string, string> = {}) =>
  fetch(origin.url() + path, { headers, redirect: 'manual' })

/** Announces a body of this size without sending it, and returns the status of the response. */
async function announce(bytes: number): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'image/png', 'content-length': bytes }
  const sending = request(`${origin.url()}/admin/images`, { method: 'POST', headers }).on('error', () => {})
  sending.flushHeaders()
  const [response] = (await once(sending, 'response')) as [IncomingMessage]
  sending.destroy()
  return response.statusCode
}

/** Each call makes a picture that no other test uses. */
let shade = 0
const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: { r: ++shade, g: 120, b: width % 256 } } })
const bytesOf = async (made: Sharp) => new Uint8Array(await made.toBuffer())

test('makes a picture in the widths that pages need, as WebP and as JPEG, and never larger', async () => {
  const { status, body } = await upload(await bytesOf(picture(1000, 500).png()), 'image/png')
  expect([status, body]).toEqual([
    201,
    { image: body.image, url: `/images/${body.image}`, widths: [320, 640, 960], width: 1000, height: 500 },
  ])
  expect(body.image).toMatch(/^[0-9a-f]{32}$/)
  for (const width of body.widths)
    for (const [ending, type] of Object.entries({ webp: 'image/webp', jpg: 'image/jpeg' })) {
      const file = await read(`${body.url}/${width}.${ending}`)
      expect(Object.fromEntries(file.headers)).toMatchObject({
        'content-type': type,
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
      })
      const { width: real, height } = await sharp(await file.arrayBuffer()).metadata()
      expect([real, height]).toEqual([width, width / 2])
      const etag = file.headers.get('etag') ?? ''
      expect((await read(`${body.url}/${width}.${ending}`, { 'if-none-match': etag })).status).toBe(304)
    }
  for (const none of ['1280.webp', '320.png', '0.jpg', '..%2f..%2fsecret', 'size.json'])
    expect((await read(`${body.url}/${none}`)).status, none).toBe(404)
  const whole = await read(body.url)
  expect([whole.status, whole.headers.get('location')]).toEqual([302, `${body.url}/960.jpg`])
})

test('takes a file of a form, or the address of a picture, and knows a picture again', async () => {
  const bytes = await bytesOf(picture(200, 100).jpeg())
  const form = new FormData()
  form.append('alt', 'a shoe')
  form.append('file', new Blob([bytes]), 'shoe.jpg')
  const uploaded = await upload(form)
  expect(uploaded).toMatchObject({ status: 201, body: { widths: [200], width: 200, height: 100 } })
  expect((await upload(bytes, 'application/octet-stream')).body).toEqual(uploaded.body)
  form.append('file', new Blob([bytes]), 'another.jpg')
  expect(await upload(form)).toMatchObject({ status: 422, body: { errors: [{ field: 'file' }] } })
  const host = await serveOnLoopback((_, response) => response.end(bytes))
  expect((await uploadFrom(`${host.url}/shoe.jpg`)).body).toEqual(uploaded.body)
  host.stop()
})

test('turns a picture upright, and drops what its camera noted', async () => {
  const noted = picture(600, 400)
    .jpeg()
    .withExif({ IFD0: { Copyright: 'Somebody' } })
    .withMetadata({ orientation: 6 })
  const bytes = await bytesOf(noted)
  const { body } = await upload(bytes, 'image/jpeg')
  expect(body).toMatchObject({ width: 400, height: 600 })
  const made = await sharp(await (await read(`${body.url}/320.jpg`)).arrayBuffer()).metadata()
  expect(made).toMatchObject({ width: 320, height: 480 })
  expect([made.exif, made.orientation]).toEqual([undefined, undefined])
})

test('keeps what is transparent in WebP, on white in JPEG', async () => {
  const half = sharp({ create: { width: 40, height: 40, channels: 4, background: { r: 255, g: 0, b: 0, alpha: 0.5 } } })
  const { body } = await upload(await bytesOf(half.png()), 'image/png')
  const pixel = async (file: string) => {
    const bytes = await (await read(`${body.url}/40.${file}`)).arrayBuffer()
    const { data } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true })
    return [...data.subarray(0, file === 'webp' ? 4 : 3)].map((value) => Math.round(value / 32))
  }
  expect(await pixel('webp')).toEqual([8, 0, 0, 4])
  expect(await pixel('jpg')).toEqual([8, 4, 4])
})

test('refuses what is no picture, or too much of one, and says why', async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>'
  for (const none of [svg, 'GIF89a', '', '<html>', '%PDF-1.7'])
    expect(await upload(none, 'image/png'), none).toMatchObject({ status: 422, body: { errors: [{ field: 'body' }] } })
  const huge = await upload(await bytesOf(picture(8_000, 7_000).jpeg()), 'image/png')
  expect(huge).toMatchObject({ status: 422, body: { errors: [{ detail: 'more than 50 million pixels' }] } })
  expect(await announce(15 * 1024 * 1024 + 1)).toBe(413)
  expect(await upload('text', 'text/plain')).toMatchObject({ status: 415 })
  expect(await upload('no form', 'multipart/form-data; boundary=x')).toMatchObject({ status: 400 })
  for (const url of ['ftp://example.com/a.png', 'no address', 'http://127.0.0.1:9/a.png'])
    expect(await uploadFrom(url), url).toMatchObject({ status: 422, body: { errors: [{ field: 'url' }] } })
  const host = await serveOnLoopback((request, response) => {
    if (request.url === '/moved') return void response.writeHead(302, { location: '/a.png' }).end()
    if (request.url === '/half')
      return void response.writeHead(200, { 'content-length': 100 }).write('GIF', () => response.destroy())
    response.write(Buffer.alloc(16 * 1024 * 1024))
  })
  for (const path of ['/moved', '/half', '/endless'])
    expect(await uploadFrom(host.url + path), path).toMatchObject({ status: 422, body: { errors: [{ field: 'url' }] } })
  host.stop()
})

describe('of a sale', () => {
  const saleWith = (images: object[], brand?: object) => {
    const shoe = { product_id: 'shoe', name: 'Shoe', unit_price_minor: 100, currency: 'EUR', total: 1, images }
    const about = { name: 'Pictures', opens_at: '2026-01-01T00:00:00Z', admission: { rate_per_second: 1 } }
    return origin.admin('PUT', `/sales/pictures-${++shade}`, { ...about, products: [shoe], ...(brand && { brand }) })
  }

  test('become ours as it is written, with their sizes, wherever they were', async () => {
    const { body: ours } = await upload(await bytesOf(picture(800, 400).png()), 'image/png')
    const elsewhere = await bytesOf(picture(700, 700).png())
    const host = await serveOnLoopback((_, response) => response.end(elsewhere))
    const images = [{ url: ours.url, alt: 'a shoe', width: 9 }, { url: `${host.url}/square.png` }]
    const { status, body } = await saleWith(images, { shop: 'Halfway', hero: `${host.url}/square.png` })
    host.stop()
    const size = { width: 800, height: 400, widths: [320, 640] }
    const square = { width: 700, height: 700, widths: [320, 640] }
    const kept = expect.stringMatching(/^\/images\/[0-9a-f]{32}$/)
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { brand: { shop: 'Halfway', hero: kept, sizes: { hero: square } }, products: [{ images: { length: 2 } }] },
    })
    expect((body.products as [{ images: object[] }])[0].images).toEqual([
      { url: ours.url, alt: 'a shoe', ...size },
      { url: kept, alt: '', ...square },
    ])
    // The host of the picture is gone, but the sale can be sent back as it was read.
    const again = await origin.admin('PUT', `/sales/${body.sale}`, body)
    expect(again).toMatchObject({ status: 200, body: { goods_version: 1 } })
  })

  test('are fetched at once, and never write an old sale over one that was saved meanwhile', async () => {
    const bytes = await bytesOf(picture(40, 40).png())
    const release = Promise.withResolvers<void>()
    let requested = 0
    const host = await serveOnLoopback(async (_, response) => {
      requested++
      await release.promise
      response.end(bytes)
    })
    const { body: first } = await saleWith([])
    const save = (name: string, images: object[] = []) => {
      const products = (first.products as object[]).map((product) => ({ ...product, images }))
      return origin.admin('PUT', `/sales/${first.sale}`, { ...first, name, products })
    }
    const old = save(
      'Old',
      [1, 2, 3].map((n) => ({ url: `${host.url}/${n}.png` })),
    )
    await expect.poll(() => requested).toBe(3)
    expect(await save('New')).toMatchObject({ status: 200 })
    release.resolve()
    expect(await old).toMatchObject({ status: 412 })
    expect(await origin.admin('GET', `/sales/${first.sale}`)).toMatchObject({ body: { name: 'New' } })
    host.stop()
  })

  test('are refused by field where there are none', async () => {
    const unknown = `/images/${'0'.repeat(32)}`
    const brand = { shop: 'Halfway', logo: `/images/${'1'.repeat(32)}` }
    const { status, body } = await saleWith([{ url: unknown }, { url: 'https://127.0.0.1:9/a.png' }], brand)
    expect([status, body.errors]).toEqual([
      422,
      [
        { field: 'brand.logo', detail: 'there is no such picture' },
        { field: 'products.0.images.0.url', detail: 'there is no such picture' },
        { field: 'products.0.images.1.url', detail: expect.stringContaining('cannot be reached') },
      ],
    ])
    expect(await saleWith([{ url: '/images/../secret' }])).toMatchObject({ status: 422 })
  })
})
