import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PromoCode } from '../../shared/api/goods.ts'
import { SaleConfig } from '../../shared/api/operators/sale-config.ts'
import { parse } from '../../shared/parse.ts'
import { AURORA_CODES, auroraSale } from './aurora.ts'

// SVG is blocked in a process that has loaded the origin's images, and the files of a run share their processes.
const svg = { operation: ['VipsForeignLoadSvg'] }
beforeAll(() => sharp.unblock(svg))
afterAll(() => sharp.block(svg))

test('the drop is one that an operator could write, with three pictures of one size', async () => {
  const sizes: unknown[] = []
  const config = await auroraSale(async (picture) => {
    const { width, height, format } = await sharp(picture).metadata()
    sizes.push([width, height, format])
    return `/images/${String(sizes.length).padStart(32, '0')}`
  })
  expect(sizes).toEqual([...Array(3).fill([1280, 1165, 'png']), [544, 128, 'png']])
  const written = { ...config, opens_at: '2026-01-01T00:00:00Z', admission: { rate_per_second: 1 } }
  const [shoe] = parse(SaleConfig, written).products
  expect(shoe?.variants).toHaveLength(14)
  for (const code of AURORA_CODES) expect(parse(PromoCode, code)).toMatchObject({ percent: 10 })
})
