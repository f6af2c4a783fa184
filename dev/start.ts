/**
 * `npm start`: the whole system on this machine, with a demo sale that opens in seconds. Says what it does while it does
 * it, says in one line what is wrong when it cannot, and leaves nothing running, whatever ends it.
 */
import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { BEARER, NO_BEARER } from '../origin/config.ts'
import type { SaleConfig } from '../shared/api/operator.ts'
import { optionsOf, paint, terminal, UsageError, whenNpmIsGone } from './command.ts'
import { ADMIN_TOKEN_FILE } from './data-folder.ts'
import { killEverything, LocalError, SAME_KEYSTROKE_MS, stopEverything } from './processes.ts'
import { type Progress, type System, startSystem } from './system.ts'
import { WORKER_SETTINGS } from './workerd.ts'

const HELP = `Starts the whole system on this machine: Postgres, Redis, the origin, the edge, and a demo sale.

  npm start -- [options]

  --data FOLDER      where data, secrets and logs stay (default ./.data, or FLASH_SALE_DATA)
  --temporary        keep nothing: a folder of its own, removed at the end
  --port N           port of the origin (default 3000, or PORT)
  --edge-port N      port of the edge (default 8787, or EDGE_PORT)
  --no-demo          do not create the demo sale
  --help             this text

Environment: PORT, EDGE_PORT, ADMIN_TOKEN, FLASH_SALE_DATA, and DATABASE_URL and REDIS_URL for a Postgres and a Redis
that are there already. Whatever else the origin and the Worker read (LOG_LEVEL, PAYMENT_PROVIDER, TICKET_SHARDS, ...) is passed on to them.
Ctrl-C stops everything in good order; a second Ctrl-C at once.`

/** How long after the start the demo sale opens: time enough to open the page and join the line. */
const DEMO_OPENS_AFTER_MS = 20_000
/** A sold-out demo is followed by demo-2, demo-3 and so on. */
const MAX_DEMOS = 1000
const CALL_WITHIN_MS = 10_000
/** Longest that stopping in good order may take, all together. */
const STOP_WITHIN_MS = 30_000

interface Settings {
  readonly dataDir: string | undefined
  readonly port: number
  readonly edgePort: number
  readonly demo: boolean
}

// -- The terminal --------------------------------------------------------------------------------------------------

/** With a terminal, a line that moves while work is under way; without one, a plain line for each thing done. */
class Display implements Progress {
  private readonly under = new Map<string, number>()
  private readonly timer: NodeJS.Timeout
  private frame = 0

  constructor() {
    this.timer = setInterval(() => this.tick(), terminal ? 100 : 5_000)
    this.timer.unref()
  }

  begin(part: string): void {
    this.under.set(part, performance.now())
    if (terminal) this.tick()
  }

  ready(part: string, detail: string): void {
    const seconds = (performance.now() - (this.under.get(part) ?? performance.now())) / 1000
    this.under.delete(part)
    const name = `${part[0]?.toUpperCase()}${part.slice(1)}`
    this.say(
      `${paint('green', '✓')} ${name.padEnd(12)} ${paint('dim', `${seconds.toFixed(1)} s  ${withoutSecrets(detail)}`)}`,
    )
  }

  say(line: string): void {
    this.clear()
    console.log(line)
    if (terminal) this.tick()
  }

  done(): void {
    clearInterval(this.timer)
    this.under.clear()
    this.clear()
  }

  private clear(): void {
    if (terminal) process.stdout.write('\r\x1b[K')
  }

  private tick(): void {
    if (this.under.size === 0) return
    const names = [...this.under.keys()].join(', ')
    if (!terminal) {
      console.log(`still starting ${names}`)
      return
    }
    const wheel = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'
    this.frame = (this.frame + 1) % wheel.length
    process.stdout.write(`\r\x1b[K${paint('cyan', wheel[this.frame] ?? '')} starting ${names}`)
  }
}

function withoutSecrets(address: string): string {
  const url = URL.parse(address)
  return url === null ? address : `${url.protocol}//${url.host}`
}

// -- Settings ------------------------------------------------------------------------------------------------------

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const OPTIONS = {
  ...{ data: text, temporary: flag, port: text, 'edge-port': text, 'no-demo': flag },
  help: { ...flag, short: 'h' },
} as const

function readSettings(): Settings | 'help' {
  const values = optionsOf(OPTIONS, 'start')
  if (values.help) return 'help'
  if (values.temporary && values.data !== undefined) {
    throw new UsageError('--temporary and --data exclude each other.')
  }
  return {
    dataDir: values.temporary ? undefined : (values.data ?? given('FLASH_SALE_DATA') ?? '.data'),
    port: portOf(values.port ?? given('PORT') ?? '3000', 'PORT'),
    edgePort: portOf(values['edge-port'] ?? given('EDGE_PORT') ?? '8787', 'EDGE_PORT'),
    demo: !values['no-demo'],
  }
}

/** An environment variable; set but empty is as good as not set. */
const given = (name: string) => process.env[name] || undefined

function workerSettings(): Record<string, string> {
  const settings: Record<string, string> = {}
  for (const name of WORKER_SETTINGS) {
    const value = given(name)
    if (value !== undefined) settings[name] = value
  }
  return settings
}

function portOf(text: string, name: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) {
    throw new UsageError(`${name} must be a port from 1 to 65535, not "${text}".`)
  }
  return port
}

// -- The demo sale -------------------------------------------------------------------------------------------------

const demoSale = (nowMs: number): Partial<SaleConfig> => ({
  name: 'The demo sale',
  opens_at: new Date(nowMs + DEMO_OPENS_AFTER_MS).toISOString(),
  hold_seconds: 90,
  limit_per_visitor: 2,
  products: [
    { product_id: 'poster', name: 'Signed poster', unit_price_minor: 2500, currency: 'EUR', total: 100 },
    { product_id: 'vinyl', name: 'First pressing', unit_price_minor: 4200, currency: 'EUR', total: 20 },
  ],
  admission: { rate_per_second: 20, max_inside: null },
})

interface Demo {
  readonly sale: string
  /** Seconds until it opens; 0 when it is open. */
  readonly opensInSeconds: number
}

/** Leaves a demo that is live alone; otherwise creates one. What is over stays as it was: its orders are real. */
async function ensureDemo(system: System): Promise<Demo> {
  for (let n = 1; n <= MAX_DEMOS; n++) {
    const sale = n === 1 ? 'demo' : `demo-${n}`
    const state = await fetch(`${system.originUrl}/internal/sales/${sale}`, {
      headers: { authorization: `Bearer ${system.secrets.edgeToken}` },
      signal: AbortSignal.timeout(CALL_WITHIN_MS),
    })
    if (state.status === 404) {
      await state.body?.cancel()
      await createSale(system, sale)
      return { sale, opensInSeconds: DEMO_OPENS_AFTER_MS / 1000 }
    }
    if (!state.ok)
      throw new LocalError(`The origin answered ${state.status} when asked for the sale ${sale}.`)
    const { phase, opens_in_ms } = (await state.json()) as { phase: string; opens_in_ms: number }
    if (phase !== 'sold_out' && phase !== 'ended') {
      return { sale, opensInSeconds: phase === 'upcoming' ? Math.max(0, opens_in_ms / 1000) : 0 }
    }
  }
  throw new LocalError(`There are ${MAX_DEMOS} demo sales already: remove the data folder, or use --no-demo.`)
}

async function createSale(system: System, sale: string): Promise<void> {
  const response = await fetch(`${system.originUrl}/admin/sales/${sale}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${system.adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(demoSale(Date.now())),
    signal: AbortSignal.timeout(CALL_WITHIN_MS),
  })
  const body = await response.text()
  if (!response.ok)
    throw new LocalError(`The demo sale was refused (${response.status}): ${body.slice(0, 300)}`)
}

function invitation(system: System, demo: Demo | undefined, kept: boolean): string {
  const sale = demo?.sale ?? 'SALE'
  // No secret is shown on a screen: it lies in a file that only this person can read.
  const token = `$(cat ${shellWord(shortPath(join(system.dataDir, ADMIN_TOKEN_FILE)))})`
  const admin = (rest: string) =>
    `curl -sS -H "Authorization: Bearer ${token}" ${system.originUrl}/admin/sales/${sale}${rest}`
  const row = (what: string, command: string) => `  ${what.padEnd(15)} ${command}`
  const opening =
    demo === undefined
      ? ''
      : demo.opensInSeconds > 0
        ? `  (opens in ${Math.ceil(demo.opensInSeconds)} s: join the line before, and a draw decides your place)`
        : '  (open now; for another draw: npm start -- --temporary)'
  return [
    '',
    `${paint('bold', 'Sale page')}   ${paint('cyan', `${system.edgeUrl}/sales/${sale}`)}${opening}`,
    `${paint('bold', 'Edge')}        ${system.edgeUrl}`,
    `${paint('bold', 'Origin')}      ${system.originUrl}   metrics at /metrics`,
    '',
    paint('bold', 'Try, in another terminal'),
    row('join the line', `curl -sS -X POST ${system.edgeUrl}/sales/${sale}/queue`),
    row('see all of it', admin('')),
    row('pause the line', admin('/pause -X POST')),
    row('go on', admin('/resume -X POST')),
    row(
      'more stock',
      admin(`/products/poster/restock -X POST -H 'content-type: application/json' -d '{"quantity":10}'`),
    ),
    row(
      'send a crowd',
      `npm run rehearse -- --edge ${system.edgeUrl} --origin ${system.originUrl} --data ${shellWord(shortPath(system.dataDir))} --visitors 500`,
    ),
    '',
    kept
      ? `Data, secrets and logs are in ${shortPath(system.dataDir)}. Ctrl-C stops everything; the next start goes on from there.`
      : 'Nothing is kept. Ctrl-C stops everything.',
  ].join('\n')
}

function shortPath(path: string): string {
  const short = relative(process.cwd(), path)
  return short === '' || short.startsWith('..') ? path : short
}

const shellWord = (text: string) => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

// -- From start to stop --------------------------------------------------------------------------------------------

const display = new Display()
let finishing: Promise<never> | undefined

/** The one way out: stops everything in reverse and ends with this status. */
function finish(status: number, line?: string): Promise<never> {
  finishing ??= (async () => {
    display.done()
    if (line !== undefined) (status === 0 ? console.log : console.error)(line)
    const giveUp = setTimeout(() => {
      killEverything()
      process.exit(1)
    }, STOP_WITHIN_MS)
    await system?.stop().catch(() => {})
    await stopEverything()
    clearTimeout(giveUp)
    if (status === 0) console.log('Stopped.')
    process.exit(status)
  })()
  return finishing
}

let system: System | undefined
let firstSignalAt: number | undefined

function onSignal(): void {
  const now = performance.now()
  if (firstSignalAt === undefined) {
    firstSignalAt = now
    void finish(0, `${terminal ? '\n' : ''}Stopping (once more to stop at once) ...`)
  } else if (now - firstSignalAt > SAME_KEYSTROKE_MS) {
    killEverything()
    process.exit(130)
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
// Whoever read our output has gone (`npm start | head`): nobody is left to tell.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => void finish(1))

whenNpmIsGone(() => void finish(1))

async function main(): Promise<void> {
  const settings = readSettings()
  if (settings === 'help') {
    display.done()
    console.log(HELP)
    return
  }
  const { dataDir, port, edgePort } = settings
  const fresh = dataDir !== undefined && !existsSync(dataDir)
  if (dataDir !== undefined) {
    display.say(
      `${fresh ? 'Starting, with new data in' : 'Starting on the data in'} ${shortPath(resolve(dataDir))}`,
    )
  }
  const adminToken = given('ADMIN_TOKEN')
  if (adminToken !== undefined && !BEARER.test(adminToken)) throw new UsageError(`ADMIN_TOKEN ${NO_BEARER}.`)
  system = await startSystem({
    dataDir,
    port,
    edgePort,
    progress: display,
    databaseUrl: given('DATABASE_URL'),
    redisUrl: given('REDIS_URL'),
    adminToken,
    edgeVars: workerSettings(),
  })
  const demo = settings.demo ? await ensureDemo(system) : undefined
  if (finishing) return
  display.done()
  console.log(invitation(system, demo, dataDir !== undefined))
  const how = await system.failed
  await finish(1, `${how}. Its log is in ${shortPath(system.dataDir)}. Everything else was stopped.`)
}

main().catch((error: unknown) => {
  // Once we are stopping, what fails because of it is not news.
  if (finishing) return
  if (error instanceof UsageError) return finish(2, error.message)
  const expected = error instanceof LocalError
  const text =
    error instanceof Error ? (expected ? error.message : (error.stack ?? error.message)) : String(error)
  return finish(1, `${paint('red', 'Could not start:')} ${text}`)
})
