import sharp from 'sharp'
import { expect, it } from 'vitest'
import { NoPicture, resize } from './resize.ts'

it('gives up a picture that takes longer than one may', async () => {
  const bytes = await sharp({ create: { width: 40, height: 40, channels: 3, background: 'red' } })
    .png()
    .toBuffer()
  expect((await resize(bytes)).renditions).toHaveLength(2)
  await expect(resize(bytes, 0)).rejects.toThrow(NoPicture)
})
