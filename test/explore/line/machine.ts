/**
 * The queue's code as one machine of the edge runs it: unchanged, with a memory, a clock, timers and chance of its
 * own. Each machine evaluates the modules of edge/queue again, as each isolate of Cloudflare does; all that has no
 * state (valibot, what both halves share) is loaded once.
 */
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import type * as Numbers from '../../../edge/queue/numbers/numbers.ts'
import type * as Shard from '../../../edge/queue/numbers/ticket-shard.ts'
import type * as Rpc from '../../../edge/queue/rpc.ts'
import type * as Sales from '../../../edge/queue/sale-cache.ts'
import type * as Room from '../../../edge/queue/waiting-room.ts'
import type * as Assert from '../../../shared/lib/assert.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** What a machine runs. */
const ENTRY = `
  export { WaitingRoom } from './edge/queue/waiting-room.ts'
  export { TicketShard } from './edge/queue/numbers/ticket-shard.ts'
  export { readSale, storeSnapshot } from './edge/queue/sale-cache.ts'
  export { giveUpPlace, hasLeft, takeNumber } from './edge/queue/numbers/numbers.ts'
  export { roomOf, withRetries } from './edge/queue/rpc.ts'
  export { watchAssertions } from './shared/lib/assert.ts'`

export type Edge = typeof Sales & typeof Numbers & typeof Rpc & typeof Room & typeof Shard & typeof Assert

/** The files with state, timers or a clock. */
const OF_EACH_MACHINE = /^edge\/(queue\/|http\/(waiting|cache)\.ts)|^shared\/lib\/assert\.ts/

/** What takes the place of the runtime's globals. */
export interface Globals {
  readonly Date: DateConstructor
  readonly Math: Math
  readonly crypto: object
  readonly setTimeout: (act: () => void, ms?: number) => number
  readonly clearTimeout: (timer: number) => void
  readonly scheduler: { wait(ms: number): Promise<void> }
  readonly fetch: (url: string, init?: { readonly signal?: unknown }) => Promise<object>
  readonly AbortSignal: { timeout(ms: number): object }
  readonly console: object
}

const NAMES = [
  ...(['Date', 'Math', 'crypto', 'setTimeout', 'clearTimeout', 'scheduler', 'fetch', 'AbortSignal'] as const),
  'console',
] as const satisfies (keyof Globals)[]

export type Start = (globals: Globals) => Edge

/** Bundles the queue's code; the result starts it on a machine. */
export async function loadEdge(): Promise<Start> {
  const shared = new Map<string, object>([['cloudflare:workers', { DurableObject }]])
  const { outputFiles } = await build({
    stdin: { contents: ENTRY, resolveDir: root, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'cjs',
    target: 'es2024',
    plugins: [separate(shared)],
  })
  const evaluate = new Function('shared', 'module', ...NAMES, outputFiles[0]?.text ?? '')
  const of = (name: string, member: string) => Reflect.get(shared.get(name) ?? {}, member)
  return (globals) => {
    const module = { exports: {} }
    evaluate(of, module, ...NAMES.map((name) => globals[name]))
    return module.exports as Edge
  }
}

class DurableObject {
  readonly ctx: unknown
  readonly env: unknown
  constructor(ctx: unknown, env: unknown) {
    this.ctx = ctx
    this.env = env
  }
}

/** Bundles the files of each machine; all others are imported once. */
function separate(shared: Map<string, object>): Plugin {
  return {
    name: 'separate',
    setup(bundle) {
      bundle.onResolve({ filter: /.*/ }, ({ path, resolveDir }) => {
        const name = path.startsWith('.') ? join(resolveDir, path) : path
        const isOwn = OF_EACH_MACHINE.test(relative(root, name))
        return { path: name, namespace: isOwn ? 'file' : 'shared', sideEffects: isOwn }
      })
      bundle.onLoad({ filter: /.*/, namespace: 'shared' }, async ({ path }) => {
        const loaded = shared.get(path) ?? (await import(/* @vite-ignore */ path))
        shared.set(path, loaded)
        const text = (name: string, i: number) =>
          `const _${i} = /* @__PURE__ */ shared("${path}", "${name}")\nexport { _${i} as ${name} }`
        return { contents: Object.keys(loaded).map(text).join('\n') }
      })
    },
  }
}
