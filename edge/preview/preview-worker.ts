/**
 * The Worker that renders previews. It is deployed with the edge and reachable only by a service binding. No script,
 * form or link works in its pages.
 */
import { WorkerEntrypoint } from 'cloudflare:workers'
import { type Asset, hallStyle, style } from '../pages/assets.ts'
import type { SampleOptions } from './sample-sale.ts'
import { samplePages } from './samples.ts'

type Look = 'light' | 'dark'

interface PreviewOptions extends SampleOptions {
  readonly look: Look
  readonly brandStyle: Asset | null
}

export default class PreviewWorker extends WorkerEntrypoint {
  /** The names of all states. */
  states(): string[] {
    return Object.keys(samplePages({ lang: 'en', nowMs: 0 }))
  }

  /** Renders one page; null for a state that does not exist. */
  page(state: string, { look, brandStyle, ...options }: PreviewOptions): string | null {
    const pages = samplePages(options)
    const page = Object.hasOwn(pages, state) ? pages[state] : undefined
    return page ? inert(page(), look, brandStyle) : null
  }
}

/** Removes scripts, and the content for browsers without scripts. Links lead nowhere. */
const inert = (page: string, look: Look, brandStyle: Asset | null) =>
  page
    .replace(/<noscript>.*?<\/noscript>/gs, '')
    .replace(/<script\b.*?<\/script>/gs, '')
    .replace(/<meta http-equiv="refresh"[^>]*>/g, '')
    .replace(/<p class="notice stuck".*?<\/p>/gs, '')
    .replace(/(<a\b[^>]*? href=")[^"]*"/g, '$1#"')
    .replace(/<link rel="stylesheet" href="([^"]*)">/g, (link, path) => {
      const sheet = [style, hallStyle, brandStyle].find((one) => one?.path === path)
      return sheet ? `<style>${inLook(sheet.body, look)}</style>` : link
    })
    .replace('<meta name="color-scheme" content="light dark">', `<meta name="color-scheme" content="${look}">`)

/** The style sheet as in a browser that prefers this look and runs the page's script. */
const inLook = (css: string, look: Look) =>
  css
    .replace(/\(prefers-color-scheme: ?dark\)/g, look === 'dark' ? '(min-width:0)' : '(max-width:0)')
    .replace(/\(scripting: ?none\)/g, '(max-width:0)')
    .replace(/color-scheme: ?light dark/g, `color-scheme:${look}`)
