/** The console's page and assets from `dist`. They are read once and served from memory. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { html, raw } from 'hono/html'
import { referencePage } from '../../shared/reference-page.ts'
import { buildConsole, DIST, readManifest } from './console-build.ts'

interface Asset {
  readonly type: string
  readonly body: Uint8Array<ArrayBuffer>
}

export interface ConsoleFiles {
  readonly page: string
  /** A page with a title and a sentence, for example that signing in failed. */
  readonly message: (title: string, text: string) => string
  /** The page `/api`, which shows the operators' interface. */
  readonly reference: string
  /** The assets by their name below `/console/assets`. */
  readonly assets: ReadonlyMap<string, Asset>
}

/** Throws if the console was never built, except in development, which then builds it. */
export async function loadConsole(development: boolean): Promise<ConsoleFiles> {
  if (development && !readManifest()) await buildConsole()
  const built = readManifest()
  if (!built) throw new Error('the console is not built: run "npm run build:console" and start again')
  const asset = (name: string, type: string) =>
    [name, { type, body: new Uint8Array(readFileSync(join(DIST, name))) }] as const
  const faces = built.faces.map((name) => asset(name, 'font/woff2'))
  const scripts = [...built.scripts, built.reference.script].map((name) => asset(name, 'text/javascript'))
  const styles = [built.style, built.reference.style].map((name) => asset(name, 'text/css'))
  const assets = new Map([...scripts, ...styles, ...faces])
  const pageOf = (title: string, body: unknown) => documentOf(title, `/console/assets/${built.style}`, body)
  const page = pageOf(
    'Console',
    // The session is read while the scripts load.
    html`<link rel="preload" href="/console/session" as="fetch" crossorigin>
<div id="console"></div><noscript>The console needs JavaScript.</noscript>
${built.preloads.map((name) => html`<link rel="modulepreload" href="/console/assets/${name}">`)}
<script type="module" src="/console/assets/${built.script}"></script>`,
  )
  const message = (title: string, text: string) =>
    pageOf(
      title,
      html`<main class="sign-in"><div>
<h1>${title}</h1><p>${text}</p><p><a href="/console">To the console</a></p>
</div></main>`,
    )
  const reference = referencePage({
    script: `/console/assets/${built.reference.script}`,
    style: `/console/assets/${built.reference.style}`,
  })
  return { page, message, reference, assets }
}

const documentOf = (title: string, style: string, body: unknown) =>
  html`${raw('<!doctype html>')}
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style}">
</head>
<body>${body}</body>
</html>
`.toString()
