/** Each break of the protocol still changes the code that it names: `npm run explore -- --breaks` plays them. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { BREAKS as LINE } from './line/breaks.ts'
import { BREAKS as SHOP } from './shop/breaks.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

test.each(Object.entries({ ...SHOP, ...LINE }))('%s', (_, { file, from, to }) => {
  const [, ...after] = readFileSync(`${ROOT}${file}`, 'utf8').split(from)
  expect(after).toHaveLength(1)
  expect(to).not.toBe(from)
})
