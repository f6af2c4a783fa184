/**
 * Runs the edge on this machine with plain `workerd`, the runtime of Cloudflare Workers, and the Worker modules that
 * are deployed there. It is much faster than the development servers, and can host the edge without Cloudflare.
 * Settings and secrets reach the Worker through the environment, so the config contains none.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { SETTINGS } from '../../edge/http/config.ts'
import type { JwkSet } from '../../shared/keys.ts'
import { buildWorkers } from '../lib/build.ts'
import { LOOPBACK, LocalError, Server } from '../lib/processes.ts'

interface EdgeOptions {
  readonly port: number
  readonly originUrl: string
  /** The variables and secrets of the Worker, as in wrangler.toml. */
  readonly vars: Readonly<Record<string, string>> & { readonly ADMISSION_KEYS: string }
  /** The folder of the Durable Objects' storage. */
  readonly dataDir: string
  /** The folder whose Workers are served; by default this repository. */
  readonly code?: string
}

/** The date with which the Worker is tested; workerd refuses one later than its own. */
export const COMPATIBILITY_DATE = '2026-08-15'

/** The settings of the Worker that this system sets itself. */
const DECIDED = ['ORIGIN_URL', 'EDGE_TOKEN', 'QUEUE_KEYS', 'ENVIRONMENT']
/** The settings of the Worker that a user may set in the environment of `npm start`. */
export const WORKER_SETTINGS = SETTINGS.map(({ name }) => name).filter((name) => !DECIDED.includes(name))

/** The limits of production, for a system that is attacked on purpose. */
export const PRODUCTION_LIMITS: Readonly<Record<string, string>> = Object.fromEntries(
  SETTINGS.flatMap(({ name, default: preset = '', isLimit }) => (isLimit ? [[name, preset]] : [])),
)

export async function startEdge({ port, originUrl, ...options }: EdgeOptions): Promise<Server> {
  const folder = resolve(options.dataDir)
  const objects = join(folder, 'objects')
  mkdirSync(objects, { recursive: true })
  // The modules are next to the config, because workerd embeds a module only by a path within the config's folder.
  await buildWorkers(folder, options.code).catch((error: Error) => {
    throw new LocalError(`The edge could not be built: ${error.message.replaceAll('\n', ' ')}`)
  })
  const vars = { ...options.vars, ORIGIN_URL: originUrl }
  writeFileSync(join(folder, 'config.capnp'), config(port, objects, Object.keys(vars)))
  const url = `http://${LOOPBACK}:${port}`
  const [signs] = (JSON.parse(vars.ADMISSION_KEYS) as JwkSet).keys
  return new Server({
    url,
    port,
    process: () => ({
      name: 'the edge',
      command: findWorkerd(),
      args: ['serve', join(folder, 'config.capnp')],
      logFile: join(folder, 'edge.log'),
      cwd: folder,
      env: { PATH: process.env.PATH, TZ: 'UTC', ...vars },
    }),
    async probe(child) {
      const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(5_000) })
      const body = await response.text()
      // The response must contain this edge's key, because another program may have taken the port.
      if (response.ok) return signs !== undefined && body.includes(signs.kid)
      const why = /ConfigError: ([^"]+)/.exec(child.logTail())?.[1]
      if (why !== undefined) throw new LocalError(`The edge does not accept its settings: ${why}`)
      return false
    },
  }).start()
}

/** Returns the path of the runtime's program. */
export function findWorkerd(): string {
  try {
    const found = createRequire(import.meta.url)('workerd') as { default: string }
    return found.default
  } catch {
    throw new LocalError('There is no workerd for this machine: run "npm ci" again.')
  }
}

/** The config in Cap'n Proto's text format, whose strings are those of JSON. */
function config(port: number, objects: string, names: readonly string[]): string {
  const variables = names.map((name) => `    (name = "${name}", fromEnvironment = "${name}"),`)
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "edge", worker = .edge),
    (name = "preview", worker = .preview),
    (name = "objects", disk = (path = ${JSON.stringify(objects)}, writable = true)),
    # The origin is on this machine, or at least in this network.
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [(name = "http", address = "${LOOPBACK}:${port}", http = (), service = "edge")],
);

const edge :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  bindings = [
    (name = "WAITING_ROOM", durableObjectNamespace = "WaitingRoom"),
    (name = "TICKET_SHARD", durableObjectNamespace = "TicketShard"),
    (name = "PREVIEW", service = "preview"),
${variables.join('\n')}
  ],
  # The unique key decides where objects are stored; it must never change.
  durableObjectNamespaces = [
    (className = "WaitingRoom", uniqueKey = "flash-sale-waiting-room", enableSql = true),
    (className = "TicketShard", uniqueKey = "flash-sale-ticket-shard", enableSql = true),
  ],
  durableObjectStorage = (localDisk = "objects"),
);

const preview :Workerd.Worker = (
  modules = [(name = "preview.js", esModule = embed "preview.js")],
  compatibilityDate = "${COMPATIBILITY_DATE}",
);
`
}
