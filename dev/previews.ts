/** Renders every page in every state with invented data, and serves them on loopback, for screenshots and tests. */
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { build } from 'esbuild'
import type { Asset } from '../edge/pages/assets.ts'
import { sampleHall } from './demo/sample-hall.ts'
import { assetsDefinition, workerOptions } from './lib/build.ts'
import { serveOnLoopback } from './lib/loopback.ts'

/** The first section is that of the samples' seats. */
const HALL = {
  sections: 6,
  sectionsAside: 3,
  rows: 8,
  seatsInRow: 14,
  first: { section_id: 'stalls-b', name: 'Stalls B' },
}

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

/**
 * A script for these pages that starts their form and shows the map of a hall, which the page's own script does only
 * after reading a schedule.
 */
export const SHOW_MAP = `(async () => {
  const offer = document.getElementById('offer')
  if (offer) (await import(offer.dataset.script)).start(offer)
  const place = document.getElementById('hall')
  if (!place) return
  await (await import(place.dataset.script)).start(place)
  while (document.querySelector('.hall-list small:empty')) await new Promise((resolve) => setTimeout(resolve, 50))
  await new Promise(requestAnimationFrame)
})()`

/** A slow page arrives in pieces of this many characters. */
const PIECE_CHARACTERS = 1500
const PIECE_MS = 40

async function* piecesOf(page: string): AsyncGenerator<string> {
  for (let at = 0; at < page.length; at += PIECE_CHARACTERS) {
    yield page.slice(at, at + PIECE_CHARACTERS)
    await sleep(PIECE_MS)
  }
}

/** Serves pages by path, in the state before their script has read a schedule; with `slowly`, in pieces. */
export async function servePages(assets: readonly Asset[], { slowly = false } = {}) {
  const pages = new Map<string, string>()
  const hall = sampleHall(HALL)
  const { url, stop } = await serveOnLoopback((request, response) => {
    const path = request.url?.replace(/\?.*/, '') ?? ''
    // While a response is pending, the page still shows that it is connected.
    if (path.endsWith('/schedule')) return
    const asset = assets.find((one) => one.path === path)
    if (asset) {
      response.setHeader('content-type', asset.type)
      response.setHeader('cache-control', 'max-age=3600, immutable')
      response.end(Buffer.from(asset.body, asset.isBinary ? 'base64' : 'utf8'))
      return
    }
    const picture = samplePicture(path)
    if (picture !== undefined) {
      response.setHeader('content-type', 'image/svg+xml')
      response.end(picture)
      return
    }
    const ofHall = hall(path)
    if (ofHall !== undefined) {
      response.setHeader('content-type', 'application/json')
      response.end(ofHall)
      return
    }
    const page = pages.get(path)
    response.statusCode = page ? 200 : 404
    response.setHeader('content-type', 'text/html; charset=utf-8')
    if (page === undefined || !slowly) response.end(page)
    else void pipeline(piecesOf(page), response).catch(() => {})
  })
  return {
    /** Adds or replaces a page. Returns its address. */
    put(path: string, html: string): string {
      pages.set(path, html)
      return url + path
    },
    stop,
  }
}

/**
 * The picture of a path such as `/images/aa…/640.webp`; undefined for any other path. It is drawn from its name, and is
 * an SVG whatever format the page requests.
 */
function samplePicture(path: string): string | undefined {
  const [, hash = ''] = /^\/images\/([0-9a-f]{32})\//.exec(path) ?? []
  if (hash === '') return
  const turn = (Number.parseInt(hash.slice(0, 2), 16) * 7) % 360
  const colour = (more: number, light: number) => `hsl(${(turn + more) % 360} 55% ${light}%)`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1440 1310"><defs><linearGradient id="g" x2="1" y2="1"><stop stop-color="${colour(0, 18)}"/><stop offset="1" stop-color="${colour(50, 42)}"/></linearGradient></defs>
<rect width="1440" height="1310" fill="url(#g)"/><path
  d="M0 420C320 120 560 640 880 320S1320 240 1440 380V620C1180 420 960 860 660 620S200 520 0 700Z"
    fill="${colour(80, 60)}" opacity=".5"/>
<ellipse cx="720" cy="1010" rx="520" ry="52" opacity=".35"/><path
  d="M210 900C200 700 420 690 560 520 640 420 700 400 780 500c80 90 220 80 300 20 60 60 140 260 130 380 0 50-40 70-90
    72H280c-50 0-70-30-70-72Z" fill="${colour(20, 94)}"/><path
      d="M210 890c280 60 700 60 1000-20v60c0 50-40 70-90 72H280c-50 0-70-30-70-72Z" fill="${colour(60, 55)}"/></svg>`
}
