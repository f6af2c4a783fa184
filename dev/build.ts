/**
 * Builds the Worker: the client script and the style sheet as embedded assets, then all of it as one ES module,
 * edge/dist/worker.js, which wrangler deploys and raw workerd serves.
 *
 *     node dev/build.ts
 */
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { namedByContent } from '../edge/pages/assets.ts'

const path = (relative: string) => fileURLToPath(new URL(`../edge/${relative}`, import.meta.url))
const SCRIPT = path('client/room.ts')
const STYLE = path('pages/style.css')
const PROOF = path('client/proof.ts')
const TURNSTILE = path('client/turnstile.ts')
const PROOF_STYLE = path('../node_modules/altcha/dist/external/altcha.css')
const PROOF_WORKER = path('../node_modules/altcha/dist/workers/scrypt.js')

const common = { bundle: true, write: false, minify: true, target: 'es2022', logLevel: 'warning' } as const

/** Bundles one asset; its path has a hash of its content. */
async function bundleAsset(entry: string, name: string, ending: string, type: string, options: BuildOptions = {}) {
  const { outputFiles } = await build({ ...options, ...common, entryPoints: [entry] })
  return namedByContent(name, ending, type, outputFiles[0]?.text ?? '')
}

/** The assets as the constant that assets.ts declares; the tests inside workerd define it too. */
export async function assetsDefinition(): Promise<{ __ASSETS__: string }> {
  const style = await bundleAsset(STYLE, 'style', 'css', 'text/css')
  const script = await bundleAsset(SCRIPT, 'script', 'js', 'text/javascript', { format: 'esm' })
  const proofStyle = await bundleAsset(PROOF_STYLE, 'proof-style', 'css', 'text/css')
  const proofWorker = await bundleAsset(PROOF_WORKER, 'proof-worker', 'js', 'text/javascript', {
    format: 'iife',
  })
  const proofScript = await bundleAsset(PROOF, 'proof-script', 'js', 'text/javascript', {
    format: 'esm',
    define: { __PROOF_WORKER__: JSON.stringify(proofWorker.path) },
  })
  const turnstileScript = await bundleAsset(TURNSTILE, 'turnstile', 'js', 'text/javascript', { format: 'esm' })
  return { __ASSETS__: JSON.stringify({ style, script, proofStyle, proofScript, proofWorker, turnstileScript }) }
}

export async function buildWorker(outfile = path('dist/worker.js')): Promise<void> {
  mkdirSync(path('dist'), { recursive: true })
  await build({
    entryPoints: [path('worker.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:workers'],
    define: await assetsDefinition(),
    legalComments: 'eof',
    logLevel: 'warning',
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildWorker()
