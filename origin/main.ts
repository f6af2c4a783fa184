/**
 * The origin's program: reads the settings, has the parts composed, serves, and stops in order. Every role serves all
 * calls; `worker` and `all` also do the background work. Until the ledger responds the process is alive but not
 * ready; it exits only for faults that waiting cannot mend.
 */
import { writeSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import { pino } from 'pino'
import { EDGE_TOKEN_HEADER, edgeTokens } from '../shared/api/internal.ts'
import { createUnreadyApp } from './app.ts'
import { type Config, readConfig } from './base/config.ts'
import { ConfigError } from './base/env.ts'
import { compose, type Origin, type Stop } from './compose.ts'
import { isLedgerAway } from './ledger/connection.ts'
import { answerInvalid, answerUnreadable, comparesTo } from './lib/http/request.ts'
import { requestInLog, withRequestId } from './lib/http/request-id.ts'
import { shouldLog } from './lib/loop.ts'
import type { Tracer } from './lib/tracing.ts'
import { withTimeout } from './lib/with-timeout.ts'
import { createOpsApp, createStoppingApp } from './ops.ts'

/** A request must have arrived within this time, or its connection is closed. */
const REQUEST_TIMEOUT_MS = 30_000
/**
 * Idle connections stay open for longer than the edge, load balancers and other clients reuse them (a minute is
 * usual): if the origin closed one first, the request just sent on it would be lost.
 */
const KEEP_ALIVE_MS = 75_000
/** Work in progress at a stop gets this long. */
const STOP_TIMEOUT_MS = 10_000
/** The first pause between two attempts to start while the ledger is away. The pause doubles, with jitter. */
const FIRST_PAUSE_MS = 100
/** The longest pause, which bounds how late the ledger's return is noticed. */
const MAX_PAUSE_MS = 2_000
/**
 * The descriptor itself: merely touching `process.stdout` can make a pipe nonblocking, and full pipes then reject
 * lines.
 */
const STDOUT = 1

const config = readConfigOrExit()
const log = pino({ level: config.LOG_LEVEL, base: { role: config.ROLE }, mixin: requestInLog }, { write: writeLog })
/** True for the edge, whose calls bring their ids. */
const isEdgeToken = comparesTo(...edgeTokens(config))
for (const warning of config.warnings) log.warn(warning)

/** How to stop what was started; the last is stopped first. */
const stops: Stop[] = []
let stopping = false
/** The part that is being stopped. */
let stoppingPart: string | undefined
let app = createUnreadyApp()
let operatorsApp = createUnreadyApp()
let ops = createOpsApp()
let tracer: Tracer | undefined

async function start(): Promise<void> {
  const servers = [await listen(config.PORT, config.HOST, (request, env) => app.fetch(request, env))]
  await listen(config.OPS_PORT, config.OPS_HOST, (request, env) => ops.fetch(request, env))
  const { ADMIN_PORT, ADMIN_HOST } = config
  if (ADMIN_PORT !== undefined)
    servers.push(await listen(ADMIN_PORT, ADMIN_HOST, (request, env) => operatorsApp.fetch(request, env)))
  const origin = await composeOnceLedgerResponds()
  stops.push(['servers', () => close(servers, origin)])
  app = origin.app
  operatorsApp = origin.operatorsApp
  ops = origin.ops
  tracer = origin.tracer
  log.info('serving')
}

async function composeOnceLedgerResponds(): Promise<Origin> {
  for (let failures = 1; ; failures++) {
    try {
      return await compose(config, log, stops)
    } catch (error) {
      if (!isLedgerAway(error as Error)) throw error
      if (shouldLog(failures)) log.warn({ failures, error: String(error) }, 'waiting for Postgres')
    }
    // The ledger may have gone away halfway through the start.
    await stopAll()
    await sleep(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)) * (0.5 + Math.random() / 2))
  }
}

function listen(port: number, hostname: string, fetch: Parameters<typeof getRequestListener>[0]): Promise<Server> {
  const { promise, resolve, reject } = Promise.withResolvers<Server>()
  const serve = getRequestListener(fetch, { hostname, errorHandler: answerInvalid })
  const isEdge = ({ headers }: IncomingMessage) => isEdgeToken(String(headers[EDGE_TOKEN_HEADER] ?? ''))
  const traced: RequestListener = (request, response) =>
    tracer ? tracer.serve(serve, isEdge, request, response) : serve(request, response)
  const named = withRequestId(traced, isEdge)
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS }, named)
  server.listen(port, hostname, () => {
    log.info({ port: (server.address() as AddressInfo).port }, 'listening')
    resolve(server)
  })
  server.on('error', (error) => {
    // The operating system has no file descriptor left for a connection: later ones may have.
    if (server.listening) log.error({ error: String(error) }, 'connection not accepted')
    reject(error)
  })
  server.on('clientError', answerUnreadable)
  return promise
}

async function close(servers: readonly Server[], { events, updates, checkout }: Origin): Promise<void> {
  const closed = Promise.all(servers.map((server) => new Promise((done) => server.close(done))))
  await Promise.all([events.stop(), updates.stop()])
  for (const server of servers) server.closeIdleConnections()
  await withTimeout(closed, STOP_TIMEOUT_MS / 2).catch(() => {
    for (const server of servers) server.closeAllConnections()
  })
  await checkout.drain()
}

async function stop(code: number): Promise<void> {
  if (stopping) return
  stopping = true
  log.info('stopping')
  const giveUp = () => {
    log.error({ what: stoppingPart }, 'stop took too long')
    process.exit(code || 1)
  }
  ops = createStoppingApp(ops)
  if (code === 0) await sleep(config.DRAIN_SECONDS * 1000)
  setTimeout(giveUp, STOP_TIMEOUT_MS).unref()
  await stopAll()
  process.exit(code)
}

async function stopAll(): Promise<void> {
  for (let last = stops.pop(); last; last = stops.pop()) {
    const [what, stop] = last
    stoppingPart = what
    await Promise.resolve(stop()).catch((error) => log.warn({ what, error: String(error) }, 'stop failed'))
  }
}

function readConfigOrExit(): Config {
  try {
    return readConfig(process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(error.message)
    process.exit(1)
  }
}

/**
 * A line that cannot be written is lost. On a full disk pino's own stream would retry forever and block all service.
 */
function writeLog(line: string): void {
  try {
    writeSync(STDOUT, line)
  } catch {
    // There is nowhere to report it.
  }
}

process.on('uncaughtException', (error) => {
  log.fatal({ error: error.stack ?? String(error) }, 'unexpected error')
  process.exit(1)
})
process.on('SIGINT', () => void stop(0))
process.on('SIGTERM', () => void stop(0))
start().catch((error) => {
  log.fatal({ error: error.stack ?? String(error) }, `cannot start: ${error.message}`)
  void stop(1)
})
