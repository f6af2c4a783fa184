/** Every page in every state with invented data, for pictures and tests: rendered here, and served to a browser's tab. */
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import type { Asset } from '../edge/pages/assets.ts'
import { assetsDefinition, workerOptions } from './build.ts'

type Samples = typeof import('../edge/preview/samples.ts')['samples']

/** Secure, as the proof of work asks for. */
const HOST = 'https://pages.test'

/** All pages, and the assets that they name. */
export async function builtPages(): Promise<{ readonly samples: Samples; readonly assets: readonly Asset[] }> {
  // A build defines the constant in which the pages find their assets.
  const define = await assetsDefinition()
  const { outputFiles } = await build({ ...workerOptions('preview/samples.ts', define), write: false })
  const code = `data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`
  const { samples }: { samples: Samples } = await import(code)
  return { samples, assets: Object.values<Asset>(JSON.parse(define.__ASSETS__)) }
}

/** Serves pages by their names; the function returned opens one, as its script shows it before the first schedule has come. */
export async function servePages(tab: Page, pages: ReturnType<Samples>, assets: readonly Asset[]) {
  await tab.route('**', (route) => {
    const path = new URL(route.request().url()).pathname
    // Without a response, and before its time is up, the page still shows that it is connected.
    if (path.endsWith('/schedule')) return
    const asset = assets.find((one) => one.path === path)
    if (asset) {
      const body = Buffer.from(asset.body, asset.isBinary ? 'base64' : 'utf8')
      return route.fulfill({ contentType: asset.type, body })
    }
    const html = pages.find(({ name }) => `/${name}` === path)?.html
    return html ? route.fulfill({ contentType: 'text/html; charset=utf-8', body: html }) : route.abort()
  })
  return async (name: string) => void (await tab.goto(`${HOST}/${name}`))
}
