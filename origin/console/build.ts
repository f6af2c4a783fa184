/**
 * The console's page and its assets, built when the origin starts: nobody who runs it has a build step. Each asset's address
 * has a hash of its content, so browsers keep it.
 */
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

interface Asset {
  readonly type: string
  readonly body: Uint8Array<ArrayBuffer>
}

export interface ConsoleFiles {
  readonly page: string
  /** A page that only says something. */
  readonly message: (title: string, text: string) => string
  /** By path below `/console`. */
  readonly assets: ReadonlyMap<string, Asset>
}

const TYPES: Readonly<Record<string, string>> = { js: 'text/javascript', css: 'text/css' }

export async function buildConsole(): Promise<ConsoleFiles> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./client/main.tsx', import.meta.url))],
    // Of the file names, only the ending is used.
    outdir: '/',
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'silent',
  })
  const assets = new Map<string, Asset>()
  const paths: Record<string, string> = {}
  for (const { path, contents } of outputFiles) {
    const ending = path.split('.').at(-1) ?? ''
    const hash = createHash('sha256').update(contents).digest('base64url').slice(0, 16)
    const name = `/assets/console-${hash}.${ending}`
    assets.set(name, { type: TYPES[ending] ?? 'application/octet-stream', body: new Uint8Array(contents) })
    paths[ending] = `/console${name}`
  }
  const [script, style] = [paths.js ?? '', paths.css ?? '']
  const page = pageOf(
    'Console',
    style,
    `<div id="console"></div><noscript>The console needs JavaScript.</noscript>
<script type="module" src="${script}"></script>`,
  )
  return { page, message: (title, text) => pageOf(title, style, messageOf(title, text)), assets }
}

const messageOf = (title: string, text: string) => `<main class="sign-in"><div class="card">
<h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p><p><a href="/console">To the console</a></p>
</div></main>`

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const pageOf = (title: string, style: string, body: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style}">
</head>
<body>${body}</body>
</html>
`
