/**
 * A real HTTP cache in front of the edge on this machine, in the role of Cloudflare's cache in front of a Worker. It
 * is Varnish, from the machine or its package manager, with the rules in cdn.vcl. It stores what responses allow,
 * and purges it by tag:
 *
 *     PURGE / HTTP/1.1
 *     Authorization: Bearer SECRET
 *     Cache-Tag: sale-launch
 */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { folderFor } from '../lib/leftovers.ts'
import { freePort, LOOPBACK, LocalError, Server, type ServerOptions, startChild, untilReady } from '../lib/processes.ts'
import { ensureProgram, findOnPath } from './install.ts'

interface CdnOptions {
  /** The address of the edge. */
  readonly edgeUrl: string
  readonly port?: number
  /** The port to which a TLS proxy connects, which names the client by the PROXY protocol. */
  readonly proxyPort?: number
  /** The token is sent with each PURGE; without it purging is impossible. */
  readonly purgeToken?: string
  /** The folder of the log; without it, a folder that is removed at the end. */
  readonly dataDir?: string
  /** Called with progress messages if Varnish has to be installed. */
  readonly say?: (line: string) => void
}

export interface CdnCounts {
  /** The number of requests from clients. */
  readonly requests: number
  /** The number of requests to the edge: misses, and refreshes of stored responses. */
  readonly toEdge: number
  /** The number of responses from the cache, fresh or stale. */
  readonly hits: number
}

/** The requests that reached the edge, with their times. */
export interface CdnRecord {
  readonly fetches: readonly { readonly path: string; readonly atMs: number }[]
  /** The times of purges. */
  readonly purgesMs: readonly number[]
  /** False if more happened than could be recorded. */
  readonly isWhole: boolean
}

const RULES = fileURLToPath(new URL('../../deploy/cdn.vcl', import.meta.url))
const COUNT_WITHIN_MS = 10_000
/** A thread adds its counts once its connection has been idle for 50 ms. */
const COUNTED_AFTER_MS = 250

/** The parameters of Varnish that differ from its defaults. */
const PARAMETERS = {
  // The log contains only what a record of fetches needs, so that its reader keeps up with many requests.
  vsl_mask:
    '-ReqHeader,-ReqUnset,-RespHeader,-RespUnset,-BereqHeader,-BereqUnset,-BerespHeader,-BerespUnset,-ObjHeader,-VCL_call,-VCL_return',
  // A response without cache headers is stored, as on Cloudflare, so that a forgotten Cache-Control is noticed on
  // this machine.
  default_ttl: 7_200,
  // A stale response is allowed only by stale-while-revalidate, and responses that may not be served are not stored.
  default_grace: 0,
  default_keep: 0,
  // The edge encodes responses itself.
  http_gzip_support: 'off',
  // Many requests come at once, so threads exist before them, and requests wait for a thread instead of being
  // dropped.
  thread_pools: 1,
  thread_pool_min: 300,
  thread_pool_max: 2_000,
  thread_queue_limit: 20_000,
  // workerd closes idle connections after five seconds, and the cache must close them sooner; clients of the cache
  // keep them longer.
  backend_idle_timeout: 3,
  timeout_idle: 600,
}
const MEMORY = '128m'
const LOG = '16m'

/**
 * Starts the cache. For purges, the edge's CACHE_PURGE_URL must be this cache's address, and its CACHE_PURGE_TOKEN
 * the same.
 */
export async function startCdn(options: CdnOptions): Promise<Cdn> {
  const command = await ensureVarnish(options.say)
  const { path: folder, remove } = folderFor(options.dataDir, 'cdn')
  const port = options.port ?? (await freePort())
  const url = `http://${LOOPBACK}:${port}`
  const rules = join(folder, 'rules.vcl')
  writeFileSync(rules, vcl(new URL(options.edgeUrl)))
  const identity = `cdn-${randomUUID()}`
  const { purgeToken = randomUUID(), proxyPort } = options
  const listens = [`${LOOPBACK}:${port}`, ...(proxyPort === undefined ? [] : [`${LOOPBACK}:${proxyPort},PROXY`])]
  const workdir = join(folder, 'varnish')
  return new Cdn(workdir, {
    url,
    port,
    remove,
    process: () => ({
      name: 'the cache',
      command,
      args: [
        ...['-F', '-n', workdir, '-i', identity, '-f', rules, '-T', 'none'],
        ...listens.flatMap((address) => ['-a', address]),
        // Varnish runs as the current user, who owns the folder. The log in shared memory is only for Varnish's own
        // tools.
        ...['-j', 'none', '-s', `malloc,${MEMORY}`, '-s', `Transient=malloc,${MEMORY}`, '-l', LOG],
        ...Object.entries(PARAMETERS).flatMap(([name, value]) => ['-p', `${name}=${value}`]),
      ],
      logFile: join(folder, 'cdn.log'),
      cwd: folder,
      env: { ...process.env, CACHE_PURGE_TOKEN: purgeToken },
    }),
    async probe() {
      const response = await purge(url, identity, purgeToken)
      return response.ok && response.headers.get('server') === identity
    },
  }).start()
}

export class Cdn extends Server {
  readonly #workdir: string

  constructor(workdir: string, options: ServerOptions) {
    super(options)
    this.#workdir = workdir
  }

  /** The counts since the last start. */
  async counts(): Promise<CdnCounts> {
    const names = ['client_req', 'backend_req', 'cache_hit'].map((name) => `MAIN.${name}`)
    const args = ['-n', this.#workdir, '-1', '-j', ...names.flatMap((name) => ['-f', name])]
    await sleep(COUNTED_AFTER_MS)
    const { stdout } = await execa(findOnPath('varnishstat') ?? 'varnishstat', args, { timeout: COUNT_WITHIN_MS })
    const { counters } = JSON.parse(stdout) as { counters: Record<string, { value: number }> }
    const [requests = 0, toEdge = 0, hits = 0] = names.map((name) => counters[name]?.value)
    return { requests, toEdge, hits }
  }

  /**
   * Records the requests that reach the edge until the returned function is called. It includes those whose path with
   * query matches the pattern.
   */
  async record(paths: string): Promise<() => Promise<CdnRecord>> {
    const reader = await startChild({
      name: 'the record of the cache',
      command: findOnPath('varnishncsa') ?? 'varnishncsa',
      args: [
        ...['-n', this.#workdir, '-b', '-c', '-q', `BereqURL ~ "${paths}" or ReqMethod eq "PURGE"`],
        ...['-F', '%{VSL:Timestamp:Start[1]}x %m %s %{VSL:BereqURL}x'],
      ],
      logFile: `${this.#workdir}-record.log`,
    })
    // The reader is ready once it has read of a purge, which is refused without the secret.
    await untilReady(reader, async () => {
      await fetch(this.url, { method: 'PURGE' })
      return reader.logTail().includes('PURGE')
    })
    const fromMs = Date.now()
    return async () => {
      await sleep(COUNTED_AFTER_MS)
      const isWhole = reader.running()
      await reader.stop()
      const text = reader.logTail()
      const lines = [...text.matchAll(/(\d+\.\d+) (\S+) (\S+) (\S+)$/gm)]
        .map(([, seconds, method, status, path = '']) => ({ method, status, path, atMs: Number(seconds) * 1000 }))
        .filter(({ atMs }) => atMs >= fromMs)
      return {
        fetches: lines.flatMap(({ method, path, atMs }) => (method === 'PURGE' ? [] : { path, atMs })),
        purgesMs: lines.flatMap(({ method, status, atMs }) => (method === 'PURGE' && status === '200' ? atMs : [])),
        isWhole: isWhole && !/overrun/i.test(text),
      }
    }
  }
}

/** Purges the responses that have one of these tags, which are separated by commas. */
export function purge(url: string, tags: string, token: string): Promise<Response> {
  const headers = { 'cache-tag': tags, authorization: `Bearer ${token}` }
  return fetch(url, { method: 'PURGE', headers, signal: AbortSignal.timeout(5_000) })
}

/** Returns the program's path, and installs it if it is missing. */
export function ensureVarnish(say?: (line: string) => void): Promise<string> {
  return ensureProgram(
    { name: 'Varnish', binaries: ['varnishd'], apt: 'varnish', brew: 'varnish', otherwise: 'leave out --cdn' },
    say,
  )
}

function vcl({ protocol, hostname, port }: URL): string {
  if (protocol !== 'http:') throw new LocalError('The cache serves an edge on http:// only.')
  // The event stream of an order may be silent for a while, so its timeout is longer.
  return `vcl 4.1;
backend edge {
  .host = "${hostname}";
  .port = "${port || 80}";
  .connect_timeout = 5s;
  .first_byte_timeout = 60s;
  .between_bytes_timeout = 120s;
}
include "${RULES}";
`
}
