/**
 * Writes every page in every state to a folder, for whoever works on them:
 *
 *     node dev/previews.ts FOLDER [LANGUAGE]
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Asset } from '../edge/pages/assets.ts'
import { LANGUAGES } from '../edge/pages/words.ts'
import { assetsDefinition } from './build.ts'

const [folder, lang = 'en'] = process.argv.slice(2)
if (!folder) {
  console.error('Where to? node dev/previews.ts FOLDER [LANGUAGE]')
  process.exit(1)
}
const define = await assetsDefinition()
const assets: Record<string, Asset> = JSON.parse(define.__ASSETS__)
// A build defines the constant in which the pages find their assets.
const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL('../edge/pages/samples.ts', import.meta.url))],
  bundle: true,
  format: 'esm',
  write: false,
  define,
})
const code = `data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`
const { samples }: typeof import('../edge/pages/samples.ts') = await import(code)

mkdirSync(join(folder, 'assets'), { recursive: true })
for (const { path, body } of Object.values(assets)) writeFileSync(join(folder, path), body)
const pages = samples({ lang: LANGUAGES.find((one) => one === lang) ?? 'en', nowMs: Date.now() })
for (const { name, html } of pages)
  writeFileSync(join(folder, `${name}.html`), html.replaceAll('"/assets/', '"assets/'))
const links = pages.map(({ name }) => `<li><a href="${name}.html">${name}</a>`)
writeFileSync(join(folder, 'index.html'), `<!doctype html><title>Pages</title><ul>${links.join('')}</ul>`)
console.log(`${pages.length} pages in ${folder}`)
