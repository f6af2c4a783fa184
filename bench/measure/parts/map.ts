/**
 * Measures the map of a hall of twenty thousand seats in a real browser: the time from frame to frame while a visitor
 * drags and zooms it. The page is that of a turn with its own script, and a server of this process takes the part of
 * the sale.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { sampleHall } from '../../../dev/demo/sample-hall.ts'
import { serveOnLoopback } from '../../../dev/lib/loopback.ts'
import { builtPages, SHOW_MAP } from '../../../dev/previews.ts'
import { launchChromium } from '../../../dev/servers/chromium.ts'
import { n } from '../../lib/figures.ts'
import { Histogram } from '../../lib/histogram.ts'
import { flat, type Measured, nowMeasuring } from '../load.ts'
import { type Aim, type Row, row, type Table } from '../rows.ts'
import type { Bench } from '../table.ts'

const HALL = { sections: 20, sectionsAside: 5, rows: 25, seatsInRow: 40 }
const SEATS = HALL.sections * HALL.rows * HALL.seatsInRow
/** A delay from about this time on is visible as a jerk. */
const AIM: Aim = { slowestMs: 50 }
const DESK = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }
const STEPS = 40
const DRAG_PX = 220
/** The map reads its seats after it was moved. */
const SETTLES_MS = 2_500

export async function* mapOfHall({ rounds }: Pick<Bench, 'rounds'>): AsyncGenerator<Table> {
  const server = await serveHall()
  const browser = await launchChromium()
  try {
    const rows: Row[] = []
    for (const [name, viewport] of Object.entries({ desk: DESK, phone: PHONE })) {
      const page = await browser.newPage({ viewport })
      nowMeasuring(`  the map of ${n(SEATS)} seats on a ${name}`)
      await page.goto(server.url)
      await page.evaluate(SHOW_MAP)
      // Zooms in until single seats are visible.
      for (let press = 0; press < 2; press++) await page.click('.hall-zoom button:first-child')
      await sleep(SETTLES_MS)
      const { x, y } = await middleOf(page)
      const drag = async () => {
        await page.mouse.move(x, y)
        await page.mouse.down()
        await page.mouse.move(x - DRAG_PX / 2, y - DRAG_PX / 2, { steps: STEPS })
        await page.mouse.move(x + DRAG_PX / 2, y + DRAG_PX / 2, { steps: STEPS })
        await page.mouse.move(x, y, { steps: STEPS })
        await page.mouse.up()
      }
      const turnWheel = async () => {
        await page.mouse.move(x, y)
        for (const by of [-40, 40]) for (let step = 0; step < STEPS; step++) await page.mouse.wheel(0, by)
      }
      // The code and the pictures are warmed up.
      await drag()
      rows.push(row(`dragged on a ${name}`, await framesOf(page, rounds, drag), null, AIM))
      rows.push(row(`zoomed by a wheel on a ${name}`, await framesOf(page, rounds, turnWheel), null, AIM))
      await page.close()
    }
    yield { title: `The map of ${n(SEATS)} seats, from frame to frame`, against: '', rows }
  } finally {
    await browser.close()
    server.stop()
  }
}

async function middleOf(page: Page) {
  const box = await page.locator('.hall-plan canvas').boundingBox()
  if (!box) throw new Error('the page shows no map')
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
}

/**
 * The time between frames during a movement, and the processor time of the page's thread for each. The first frame
 * only marks the start.
 */
async function framesOf(page: Page, rounds: number, move: () => Promise<void>): Promise<Measured> {
  const histogram = new Histogram()
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
  const busySeconds = async () => {
    const { metrics } = await cdp.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0
  }
  const busyBefore = await busySeconds()
  const startedMs = performance.now()
  for (let round = 0; round < rounds; round++) {
    await page.evaluate(`(() => {
      globalThis.frames_ = []
      globalThis.isCounting = true
      const count = (atMs) => { frames_.push(atMs); if (isCounting) requestAnimationFrame(count) }
      requestAnimationFrame(count)
    })()`)
    await move()
    const times = await page.evaluate<number[]>('isCounting = false, frames_')
    for (const [i, atMs] of times.entries()) if (i > 0) histogram.add(atMs - (times[i - 1] ?? atMs))
  }
  const ms = histogram.summary()
  const cpuMicros = ((await busySeconds()) - busyBefore) * (1e6 / ms.count)
  await cdp.detach()
  return { ...flat((ms.count * 1000) / (performance.now() - startedMs)), ms, cpuMicros }
}

/** Serves the page of a turn, its assets, and the documents of its hall. */
async function serveHall() {
  const { samples, assets } = await builtPages()
  const turn = samples({ lang: 'en', nowMs: Date.now() }).find(({ name }) => name === 'hall-turn')?.html ?? ''
  const hall = sampleHall(HALL)
  return serveOnLoopback((request, response) => {
    const path = request.url?.replace(/\?.*/, '') ?? ''
    // The page's script shows the initial content until a schedule arrives.
    if (path.endsWith('/schedule')) return
    const asset = assets.find((one) => one.path === path)
    const body = path === '/' ? turn : hall(path)
    response.statusCode = asset || body !== undefined ? 200 : 404
    response.setHeader('content-type', asset?.type ?? (path === '/' ? 'text/html; charset=utf-8' : 'application/json'))
    response.setHeader('cache-control', 'max-age=1')
    response.end(asset ? Buffer.from(asset.body, asset.isBinary ? 'base64' : 'utf8') : body)
  })
}
