/** Pictures in S3, and how many are made at once. */
import sharp, { type Sharp } from 'sharp'
import { afterAll, expect, test } from 'vitest'
import { ADMIN_TOKEN, useOwnOrigin } from '../../test/lib/origin-process.ts'
import { startS3 } from '../../test/stand-ins/s3.ts'
import { s3Store } from './image-store.ts'

const s3 = await startS3()
afterAll(() => s3.stop())
const origin = useOwnOrigin(undefined, s3.settings)

async function upload(body: Uint8Array<ArrayBuffer>, type: string) {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': type }
  const response = await fetch(`${origin.url()}/admin/images`, { method: 'POST', headers, body })
  return { status: response.status, body: (await response.json()) as { image: string; url: string } }
}
/** Each call makes another picture. */
let shade = 0
const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: { r: ++shade, g: 120, b: width % 256 } } })
const bytesOf = async (made: Sharp) => new Uint8Array(await made.toBuffer())

test('pictures are stored there by signed calls, and read from there', async () => {
  const { status, body } = await upload(await bytesOf(picture(400, 300).png()), 'image/png')
  expect(status).toBe(201)
  const names = ['320.jpg', '320.webp', 'size.json'].map((name) => `/pictures${body.url}/${name}`)
  expect([...s3.files.keys()].sort()).toEqual(names)
  expect(s3.refused()).toBe(0)
  const file = await fetch(`${origin.url()}${body.url}/320.webp`)
  expect(Buffer.from(await file.arrayBuffer())).toEqual(s3.files.get(`/pictures${body.url}/320.webp`)?.bytes)
  expect((await fetch(`${origin.url()}/images/${'0'.repeat(32)}/320.webp`)).status).toBe(404)
  const store = s3Store(s3.settings as never)
  for (const name of ['320.jpg', '320.jpg', 'none.jpg']) await store.delete(`${body.image}/${name}`)
  expect([...s3.files.keys()].sort()).toEqual(names.slice(1))
  expect(s3.refused()).toBe(0)
})

test('pictures are made one at a time, and few wait: the others try again', async () => {
  const many = await Promise.all(Array.from({ length: 12 }, () => bytesOf(picture(3_000, 2_000).jpeg())))
  const answers = await Promise.all(many.map((bytes) => upload(bytes, 'image/jpeg')))
  const statuses = new Set(answers.map(({ status }) => status))
  expect(statuses).toEqual(new Set([201, 503]))
})

test('pictures are there again once the storage is', async () => {
  s3.stop()
  const { status } = await upload(await bytesOf(picture(2, 2).png()), 'image/png')
  expect(status).toBe(503)
})
