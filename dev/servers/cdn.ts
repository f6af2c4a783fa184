/**
 * A real HTTP cache before the edge on this machine: Varnish, from the machine or its package manager, for what Cloudflare
 * has before a Worker. Its rules are in cdn.vcl. It keeps what responses allow it to keep, and takes it back by tag:
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
import { folderFor } from '../leftovers.ts'
import { freePort, LOOPBACK, LocalError, Server, type ServerOptions, startChild, untilReady } from '../processes.ts'
import { ensureProgram, findOnPath } from './install.ts'

interface CdnOptions {
  /** Address of the edge. */
  readonly edgeUrl: string
  readonly port?: number
  /** Where what ends https connects, and says by the PROXY protocol for whom. */
  readonly proxyPort?: number
  /** Sent with each PURGE; without it nobody can purge. */
  readonly purgeToken?: string
  /** Where its log stays; without it, a folder that is removed at the end. */
  readonly dataDir?: string
  /** Called with what happens when Varnish has to be installed. */
  readonly say?: (line: string) => void
}

interface CdnCounts {
  /** Requests of clients. */
  readonly requests: number
  /** Requests to the edge: what was not kept, and refreshes of what was. */
  readonly toEdge: number
  /** Responses from the cache, fresh or stale. */
  readonly hits: number
}

/** Requests that reached the edge, and when. */
export interface CdnRecord {
  readonly fetches: readonly { readonly path: string; readonly atMs: number }[]
  /** When something was taken back. */
  readonly purgesMs: readonly number[]
  /** False where more happened than could be written down. */
  readonly isWhole: boolean
}

const RULES = fileURLToPath(new URL('./cdn.vcl', import.meta.url))
const COUNT_WITHIN_MS = 10_000
/** A thread adds what it has counted once its connection has been idle for 50 ms. */
const COUNTED_AFTER_MS = 250

/** Parameters of Varnish that differ from its own. */
const PARAMETERS = {
  // The log has what a record of fetches is made of, and so a crowd does not overrun its reader.
  vsl_mask:
    '-ReqHeader,-ReqUnset,-RespHeader,-RespUnset,-BereqHeader,-BereqUnset,-BerespHeader,-BerespUnset,-ObjHeader,-VCL_call,-VCL_return',
  // As on Cloudflare, a response that says nothing is kept: a forgotten Cache-Control must show on this machine.
  default_ttl: 7_200,
  // Only stale-while-revalidate allows what is stale, and what nobody may be served is not kept.
  default_grace: 0,
  default_keep: 0,
  // Encodings are the edge's own affair.
  http_gzip_support: 'off',
  // A crowd comes at once: threads are there before it, and requests wait for one instead of being dropped.
  thread_pools: 1,
  thread_pool_min: 300,
  thread_pool_max: 2_000,
  thread_queue_limit: 20_000,
  // workerd closes idle connections after five seconds, clients of ours keep them longer.
  backend_idle_timeout: 3,
  timeout_idle: 600,
}
const MEMORY = '128m'
const LOG = '16m'

/** Starts the cache. To purge, the edge's CACHE_PURGE_URL must be this cache's address, and its CACHE_PURGE_TOKEN the same. */
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
        // As ourselves, who own the folder. The log in shared memory is for Varnish's own tools only.
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

  /** Since its last start. */
  async counts(): Promise<CdnCounts> {
    const names = ['client_req', 'backend_req', 'cache_hit'].map((name) => `MAIN.${name}`)
    const args = ['-n', this.#workdir, '-1', '-j', ...names.flatMap((name) => ['-f', name])]
    await sleep(COUNTED_AFTER_MS)
    const { stdout } = await execa(findOnPath('varnishstat') ?? 'varnishstat', args, { timeout: COUNT_WITHIN_MS })
    const { counters } = JSON.parse(stdout) as { counters: Record<string, { value: number }> }
    const [requests = 0, toEdge = 0, hits = 0] = names.map((name) => counters[name]?.value)
    return { requests, toEdge, hits }
  }

  /** Writes down what reaches the edge from now on, until the function is called: of paths, with their queries, that a pattern finds. */
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
    // It reads once it has read of a purge, which is refused without the secret.
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

/** Takes back what carries one of these tags, separated by commas. */
export function purge(url: string, tags: string, token: string): Promise<Response> {
  const headers = { 'cache-tag': tags, authorization: `Bearer ${token}` }
  return fetch(url, { method: 'PURGE', headers, signal: AbortSignal.timeout(5_000) })
}

/** The program's path; installs it if there is none. */
export function ensureVarnish(say?: (line: string) => void): Promise<string> {
  return ensureProgram(
    { name: 'Varnish', binaries: ['varnishd'], apt: 'varnish', brew: 'varnish', otherwise: 'leave out --cdn' },
    say,
  )
}

function vcl({ protocol, hostname, port }: URL): string {
  if (protocol !== 'http:') throw new LocalError('The cache serves an edge on http:// only.')
  // An order's events are silent for a while.
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
