import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { WORKERS, workerOptions } from './build.ts'

it('the Worker that visitors reach has no samples: they are in the one that renders previews', async () => {
  const inputsOf = async (entry: string) => {
    const { metafile } = await build({ ...workerOptions(entry, { __ASSETS__: '{}' }), write: false, metafile: true })
    return Object.keys(metafile.inputs)
  }
  const sample = /edge\/preview\/samples\.ts$/
  expect(await inputsOf(WORKERS['preview.js'])).toContainEqual(expect.stringMatching(sample))
  expect(await inputsOf(WORKERS['worker.js'])).not.toContainEqual(expect.stringMatching(sample))
})
