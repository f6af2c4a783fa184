/** Every page in every state with invented data, for pictures and tests: rendered here, and served on loopback. */
import { build } from 'esbuild'
import type { Asset } from '../edge/pages/assets.ts'
import { assetsDefinition, workerOptions } from './build.ts'
import { serveOnLoopback } from './servers/loopback.ts'

type Samples = typeof import('../edge/preview/samples.ts')['samples']

/** All pages, and the assets that they name. */
export async function builtPages(): Promise<{ readonly samples: Samples; readonly assets: readonly Asset[] }> {
  // A build defines the constant in which the pages find their assets.
  const define = await assetsDefinition()
  const { outputFiles } = await build({ ...workerOptions('preview/samples.ts', define), write: false })
  const code = `data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`
  const { samples }: { samples: Samples } = await import(code)
  return { samples, assets: Object.values<Asset>(JSON.parse(define.__ASSETS__)) }
}

/** Serves pages by paths, as their script shows them before the first schedule has come. */
export async function servePages(assets: readonly Asset[]) {
  const pages = new Map<string, string>()
  const { url, stop } = await serveOnLoopback((request, response) => {
    const path = request.url?.replace(/\?.*/, '') ?? ''
    // Without a response, and before its time is up, the page still shows that it is connected.
    if (path.endsWith('/schedule')) return
    const asset = assets.find((one) => one.path === path)
    if (asset) {
      response.setHeader('content-type', asset.type)
      response.setHeader('cache-control', 'max-age=3600, immutable')
      response.end(Buffer.from(asset.body, asset.isBinary ? 'base64' : 'utf8'))
      return
    }
    const page = pages.get(path)
    response.statusCode = page ? 200 : 404
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(page)
  })
  return {
    /** Adds a page, or replaces it. Returns its address. */
    put(path: string, html: string): string {
      pages.set(path, html)
      return url + path
    },
    stop,
  }
}
