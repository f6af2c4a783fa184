import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { assetsDefinition } from '../edge/build.ts'

test("the page's script is smaller than 10 KiB compressed", async () => {
  const { style, script } = JSON.parse((await assetsDefinition()).__ASSETS__)
  expect(gzipSync(script.body).length).toBeLessThan(10 * 1024)
  expect(gzipSync(script.body).length).toBeGreaterThan(1024)
  expect(style.path).toMatch(/^\/assets\/[0-9a-f]{16}\.css$/)
})
