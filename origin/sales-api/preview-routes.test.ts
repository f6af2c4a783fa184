import { expect, it } from 'vitest'
import { previewRoutes } from './preview-routes.ts'

const app = previewRoutes({
  config: { EDGE_TOKEN: 'a-token', EDGE_URL: undefined, PUBLIC_URL: undefined },
  sales: { nowMs: () => 0, inUse: () => [] },
})
app.onError((error, c) => c.json(Object(error).problem))

it.each([
  // This address gives no link if there is no edge.
  ['https://console.example:8443', 'conflict'],
  ['http://[::1]:3000', 'conflict'],
  ['https://evil.example;sandbox', 'invalid-fields'],
  ['https://evil.example,x', 'invalid-fields'],
  ["https://evil.example'x", 'invalid-fields'],
  ['https://evil.example/path', 'invalid-fields'],
  ['null', 'invalid-fields'],
])('lets %s frame previews: %s', async (from, type) => {
  const answer = await app.request(`/sales/drop/preview?${new URLSearchParams({ from })}`)
  expect(await answer.json()).toMatchObject({ type: `/problems/${type}` })
})
