/**
 * Builds the Workers: the client script and the style sheet as embedded assets, then each Worker as one ES module in
 * edge/dist, which wrangler deploys and raw workerd serves.
 *
 *     node dev/build.ts
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { namedByContent } from '../edge/pages/assets.ts'

const path = (relative: string) => fileURLToPath(new URL(`../edge/${relative}`, import.meta.url))
const SCRIPT = path('client/room.ts')
const EXTRAS = path('client/extras/extras.ts')
const STYLE = path('pages/style.css')
const PROOF = path('client/proof.ts')
const TURNSTILE = path('client/turnstile.ts')
const PAYMENT = path('client/stripe-payment.ts')
const PROOF_STYLE = path('../node_modules/altcha/dist/external/altcha.css')
const PROOF_WORKER = path('../node_modules/altcha/dist/workers/scrypt.js')

/** 1200 by 630, for those who show a link to a sale: they take no SVG. */
const SHARE_IMAGE = path('pages/share.png')

const common = { bundle: true, write: false, minify: true, target: 'es2022', logLevel: 'warning' } as const

/** Bundles one asset; its path has a hash of its content. */
async function bundleAsset(entry: string, name: string, ending: string, type: string, options: BuildOptions = {}) {
  const { outputFiles } = await build({ ...options, ...common, entryPoints: [entry] })
  return namedByContent(name, ending, type, outputFiles[0]?.text ?? '')
}

/** The pages' style sheet, in one piece. */
export const styleSheet = () => bundleAsset(STYLE, 'style', 'css', 'text/css')

/** The assets as the constant that assets.ts declares; the tests inside workerd define it too. */
export async function assetsDefinition(): Promise<{ __ASSETS__: string }> {
  const style = await styleSheet()
  const extras = await bundleAsset(EXTRAS, 'extras', 'js', 'text/javascript', { format: 'esm' })
  const script = await bundleAsset(SCRIPT, 'script', 'js', 'text/javascript', {
    format: 'esm',
    define: { __EXTRAS__: JSON.stringify(extras.path) },
    external: [extras.path],
  })
  const proofStyle = await bundleAsset(PROOF_STYLE, 'proof-style', 'css', 'text/css')
  const proofWorker = await bundleAsset(PROOF_WORKER, 'proof-worker', 'js', 'text/javascript', {
    format: 'iife',
  })
  const proofScript = await bundleAsset(PROOF, 'proof-script', 'js', 'text/javascript', {
    format: 'esm',
    define: { __PROOF_WORKER__: JSON.stringify(proofWorker.path) },
  })
  const turnstileScript = await bundleAsset(TURNSTILE, 'turnstile', 'js', 'text/javascript', { format: 'esm' })
  const paymentScript = await bundleAsset(PAYMENT, 'payment', 'js', 'text/javascript', { format: 'esm' })
  const picture = readFileSync(SHARE_IMAGE).toString('base64')
  const shareImage = { ...(await namedByContent('share', 'png', 'image/png', picture)), isBinary: true }
  const assets = {
    style,
    script,
    extras,
    proofStyle,
    proofScript,
    proofWorker,
    turnstileScript,
    paymentScript,
    shareImage,
  }
  return { __ASSETS__: JSON.stringify(assets) }
}

/** The Worker that visitors reach, and the one that renders previews for the console. */
export const WORKERS = { 'worker.js': 'worker.ts', 'preview.js': 'preview/preview-worker.ts' } as const

/** How to bundle one of the Workers, or a part of one. */
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

export async function buildWorkers(folder = path('dist')): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const assets = await assetsDefinition()
  for (const [name, entry] of Object.entries(WORKERS))
    await build({ ...workerOptions(entry, assets), outfile: join(folder, name) })
}

if (import.meta.main) await buildWorkers()
