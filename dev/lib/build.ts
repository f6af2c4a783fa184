/**
 * Builds the Workers: the client script and the style sheet as embedded assets, then each Worker as one ES module in
 * edge/dist, which wrangler deploys and raw workerd serves.
 *
 *     node dev/lib/build.ts
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { execa } from 'execa'
import { namedByContent } from '../../edge/pages/assets.ts'

/** The folder of this repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const path = (relative: string) => fileURLToPath(new URL(`../../edge/${relative}`, import.meta.url))
const ALTCHA = '../node_modules/altcha/dist'
const SCRIPT = 'text/javascript'

/** Bundles one asset of the edge. Its path contains a hash of its content. */
async function bundleAsset(entry: string, name: string, type: string, options: BuildOptions = {}) {
  const { outputFiles } = await build({
    ...{ bundle: true, write: false, minify: true, target: 'es2022', format: 'esm', logLevel: 'warning' },
    ...options,
    entryPoints: [path(entry)],
  })
  return namedByContent(name, type === SCRIPT ? 'js' : 'css', type, outputFiles?.[0]?.text ?? '')
}

/** The pages' style sheet as a single file. */
export const styleSheet = () => bundleAsset('pages/style.css', 'style', 'text/css')

/** The assets as the constant that assets.ts declares. The tests inside workerd define it too. */
export async function assetsDefinition(): Promise<{ __ASSETS__: string }> {
  // The worker is a classic script and loads nothing, because some browsers have no modules in service workers.
  const pushWorker = {
    ...(await bundleAsset('client/push/push-worker.ts', 'push-worker', SCRIPT, { format: 'iife' })),
    policy: "default-src 'none'",
  }
  const extras = await bundleAsset('client/extras/extras.ts', 'extras', SCRIPT, {
    define: { __PUSH_WORKER__: JSON.stringify(pushWorker.path) },
  })
  const proofWorker = await bundleAsset(`${ALTCHA}/workers/scrypt.js`, 'proof-worker', SCRIPT, { format: 'iife' })
  // The picture of 1200 by 630 pixels is for link previews, which do not show SVG.
  const picture = readFileSync(path('pages/share.png')).toString('base64')
  const openApi = JSON.stringify(JSON.parse(readFileSync(path('../docs/openapi/buyers.json'), 'utf8')))
  const assets = {
    style: await styleSheet(),
    script: await bundleAsset('client/main.ts', 'script', SCRIPT, {
      define: { __EXTRAS__: JSON.stringify(extras.path) },
      external: [extras.path],
    }),
    extras,
    views: await bundleAsset('client/extras/beacon.ts', 'views', SCRIPT),
    proofStyle: await bundleAsset(`${ALTCHA}/external/altcha.css`, 'proof-style', 'text/css'),
    proofScript: await bundleAsset('client/third-party/proof.ts', 'proof-script', SCRIPT, {
      define: { __PROOF_WORKER__: JSON.stringify(proofWorker.path) },
    }),
    proofWorker,
    turnstileScript: await bundleAsset('client/third-party/turnstile.ts', 'turnstile', SCRIPT),
    hallStyle: await bundleAsset('pages/styles/hall.css', 'hall-style', 'text/css'),
    mapScript: await bundleAsset('client/map/map.ts', 'map', SCRIPT),
    turnScript: await bundleAsset('client/turn-form/turn-form.ts', 'turn', SCRIPT),
    addressScript: await bundleAsset('client/turn-form/address.ts', 'address', SCRIPT),
    prepareScript: await bundleAsset('client/turn-form/prepare.ts', 'prepare', SCRIPT),
    orderScript: await bundleAsset('client/order-stream.ts', 'order', SCRIPT),
    frontScript: await bundleAsset('client/front/front.ts', 'front', SCRIPT),
    searchScript: await bundleAsset('client/front/search-box.ts', 'search', SCRIPT),
    paymentScript: await bundleAsset('client/third-party/stripe-payment.ts', 'payment', SCRIPT),
    pushWorker,
    favicon: await namedByContent('icon', 'svg', 'image/svg+xml', readFileSync(path('pages/favicon.svg'), 'utf8')),
    openApi: await namedByContent('openapi', 'json', 'application/json', openApi),
    referenceScript: await bundleAsset('../shared/reference/reference.ts', 'reference', SCRIPT),
    referenceStyle: await bundleAsset('../shared/reference/reference.css', 'reference-style', 'text/css'),
    shareImage: { ...(await namedByContent('share', 'png', 'image/png', picture)), isBinary: true },
  }
  return { __ASSETS__: JSON.stringify(assets) }
}

/** The Worker for visitors, and the one that renders previews for the console. */
export const WORKERS = { 'worker.js': 'worker.ts', 'preview.js': 'preview/preview-worker.ts' } as const

/** The options to bundle one of the Workers, or a part of one. */
export const workerOptions = (entry: string, assets: { __ASSETS__: string }) =>
  ({
    entryPoints: [path(entry)],
    bundle: true,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:workers'],
    define: assets,
    legalComments: 'eof',
    logLevel: 'warning',
  }) satisfies BuildOptions

/** The Workers are bundled once in a process, because a test run starts a dozen edges from the same sources. */
const bundled = new Map<string, Promise<ReadonlyMap<string, string>>>()

async function bundleWorkers(): Promise<ReadonlyMap<string, string>> {
  const assets = await assetsDefinition()
  const bundles = Object.entries(WORKERS).map(async ([name, entry]) => {
    const { outputFiles } = await build({ ...workerOptions(entry, assets), write: false })
    return [name, outputFiles[0]?.text ?? ''] as const
  })
  return new Map(await Promise.all(bundles))
}

/** The Workers of a copy of another commit, as its own build makes them. */
async function bundleWorkersOf(code: string): Promise<ReadonlyMap<string, string>> {
  await execa(process.execPath, ['dev/lib/build.ts'], { cwd: code })
  return new Map(Object.keys(WORKERS).map((name) => [name, readFileSync(join(code, 'edge/dist', name), 'utf8')]))
}

/** Writes the Workers into this folder: those of this repository, or of a copy of another commit. */
export async function buildWorkers(folder = path('dist'), code = ROOT): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const workers = bundled.get(code) ?? (code === ROOT ? bundleWorkers() : bundleWorkersOf(code))
  bundled.set(code, workers)
  for (const [name, text] of await workers) writeFileSync(join(folder, name), text)
}

if (import.meta.main) await buildWorkers()
