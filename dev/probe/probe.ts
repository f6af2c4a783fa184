/**
 * The command `npm run probe` is a visitor who buys in a test sale each minute. It says by metrics whether that worked
 * and how long each step took, so that somebody knows before the first buyer does.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { optionsOf, run, UsageError } from '../lib/command.ts'
import { LocalError } from '../lib/leftovers.ts'
import { createProbeMetrics } from './probe-metrics.ts'
import { type Purchase, purchase } from './purchase.ts'

const HELP = `Buys one unit of a test sale each minute, as a visitor, and serves what it has seen to Prometheus.

  npm run probe -- --edge URL --sale SALE

  --edge URL          the edge as visitors reach it, such as https://queue.shop.example
  --sale SALE         a sale with "test": true, whose payments are the sandbox's; another one is not bought from
  --listen HOST:PORT  where /metrics is served (default 127.0.0.1:9465)
  --once              one visitor, whose metrics are printed
  --help              this text

Exit status with --once: 0 it has bought, 1 it has not, 2 the options are wrong.`

/** A visitor begins this long after the one before. */
const EVERY_MS = 60_000
/** A visitor who has not bought by then has failed. Two never overlap. */
const WITHIN_MS = 50_000

function readOptions(args?: readonly string[]) {
  const {
    edge = '',
    sale,
    listen = '127.0.0.1:9465',
    once = false,
  } = optionsOf('run probe', { texts: 'edge sale listen', flags: 'once' }, args)
  if (!/^https?:$/.test(URL.parse(edge)?.protocol ?? ''))
    throw new UsageError('--edge needs the URL of the edge, such as https://queue.shop.example.')
  if (sale === undefined) throw new UsageError('--sale needs the id of a test sale.')
  const [, host, port] = /^(?:\[([^\]]+)\]|[^:[\]]+):(\d{1,5})$/.exec(listen) ?? []
  if (port === undefined || Number(port) > 65_535)
    throw new UsageError(`--listen needs HOST:PORT, such as 0.0.0.0:9465, not "${listen}".`)
  return { edge, sale, once, host: host ?? listen.slice(0, listen.lastIndexOf(':')), port: Number(port) }
}

async function main(): Promise<number> {
  const { edge, sale, once, host, port } = readOptions()
  const metrics = createProbeMetrics()
  const visit = async () => {
    const seen = await purchase(edge, sale, AbortSignal.timeout(WITHIN_MS))
    metrics.note(seen)
    return seen
  }
  if (once) {
    const seen = await visit()
    console.log(await metrics.registry.metrics())
    if (seen.failed) console.error(sentenceOf(seen))
    return seen.failed ? 1 : 0
  }
  await serve(metrics.registry, host, port)
  for (;;) {
    const nextMs = performance.now() + EVERY_MS
    console.log(`${new Date().toISOString()} ${sentenceOf(await visit())}`)
    await sleep(nextMs - performance.now())
  }
}

function sentenceOf({ seconds, failed }: Purchase): string {
  const steps = Object.entries(seconds).map(([step, took]) => `${step} ${took.toFixed(2)} s`)
  return `${failed ? `failed at ${failed.step}: ${failed.why}` : 'bought'}; ${steps.join(', ')}`
}

async function serve(registry: ReturnType<typeof createProbeMetrics>['registry'], host: string, port: number) {
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics') return void response.writeHead(404).end('There is /metrics.\n')
    response.writeHead(200, { 'content-type': registry.contentType }).end(await registry.metrics())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ message }) => reject(new LocalError(message)))
    server.listen(port, host, resolve)
  })
  const { address, port: actual } = server.address() as AddressInfo
  console.log(`/metrics is served at ${address}, port ${actual}`)
}

if (import.meta.main) await run(HELP, 'The probe ended:', main)
