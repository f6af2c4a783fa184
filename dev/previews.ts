/**
 * Writes every page in every state to a folder, to work on them:
 *
 *     node dev/previews.ts FOLDER [LANGUAGE]
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Asset } from '../edge/pages/assets.ts'
import { LANGUAGES } from '../edge/pages/words/words.ts'
import { assetsDefinition } from './build.ts'

/** All pages, and the assets that they name. */
export async function builtPages() {
  const define = await assetsDefinition()
  // A build defines the constant in which the pages find their assets.
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../edge/preview/samples.ts', import.meta.url))],
    bundle: true,
    format: 'esm',
    write: false,
    define,
  })
  const code = `data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`
  const { samples }: typeof import('../edge/preview/samples.ts') = await import(code)
  return { samples, assets: Object.values<Asset>(JSON.parse(define.__ASSETS__)) }
}

async function writePreviews([folder, lang = 'en']: readonly string[]): Promise<void> {
  if (!folder) {
    console.error('Where to? node dev/previews.ts FOLDER [LANGUAGE]')
    process.exit(1)
  }
  const { samples, assets } = await builtPages()
  mkdirSync(join(folder, 'assets'), { recursive: true })
  for (const { path, body, isBinary } of assets) writeFileSync(join(folder, path), body, isBinary ? 'base64' : 'utf8')
  const pages = samples({ lang: LANGUAGES.find((one) => one === lang) ?? 'en', nowMs: Date.now() })
  for (const { name, html } of pages)
    writeFileSync(join(folder, `${name}.html`), html.replaceAll('"/assets/', '"assets/'))
  const links = pages.map(({ name }) => `<li><a href="${name}.html">${name}</a>`)
  writeFileSync(join(folder, 'index.html'), `<!doctype html><title>Pages</title><ul>${links.join('')}</ul>`)
  console.log(`${pages.length} pages in ${folder}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writePreviews(process.argv.slice(2))
