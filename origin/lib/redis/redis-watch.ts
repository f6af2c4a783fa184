/**
 * Looks at each node of Redis once a second: whether it is still a primary, how much memory it has left, whether it
 * may evict what was promised, and, after it has refused a write, whether it takes one again. Some hosted Redis
 * forbid INFO: then nothing of this is known.
 */
import type { Cluster, Redis } from 'ioredis'
import { type Actor, type LoopDeps, loop } from '../loop.ts'
import type { Writes } from '../writes.ts'
import { nodesOf, reopen } from './redis.ts'

const EVERY_MS = 1_000
/** How long the key of a tried write stays. Nobody reads it. */
const TRIED_MS = 1_000
/** A key of a sale: it leads to the node of that sale. */
const SALE_KEY = /^(\{[^{}\s]+\}):\S+$/

/** Nodes that may evict keys. */
export interface Eviction {
  readonly policy: string
  /** How many keys were evicted since none of them was allowed to. */
  readonly keys: number
}

interface NodeInfo {
  readonly isReplica: boolean
  readonly usedBytes: number
  /** 0: no limit. */
  readonly maxBytes: number
  /** Null if nothing is evicted. */
  readonly policy: string | null
  readonly evictedKeys: number
}

/** What INFO says. Pure. */
function readInfo(info: string): NodeInfo {
  const text = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? ''
  const policy = text('maxmemory_policy')
  return {
    isReplica: text('role') === 'slave',
    usedBytes: Number(text('used_memory')),
    maxBytes: Number(text('maxmemory')),
    policy: policy === '' || policy === 'noeviction' ? null : policy,
    evictedKeys: Number(text('evicted_keys')),
  }
}

interface NodeGauge {
  set(labels: { readonly node: string }, value: number): void
}

interface WatchDeps extends LoopDeps {
  readonly redis: Redis | Cluster
  readonly writes: Writes
  readonly metrics: LoopDeps['metrics'] & Readonly<Record<'redisMemoryUsed' | 'redisMemoryMax', NodeGauge>>
}

export class RedisWatch {
  readonly #deps: WatchDeps
  readonly actor: Actor
  #evicting: Eviction | null = null
  /** Keys that were evicted before. */
  #evictedBefore: number | undefined

  constructor(deps: WatchDeps) {
    this.#deps = deps
    this.actor = loop('redis watch', EVERY_MS, deps, () => this.round())
  }

  /** Null while nothing is evicted. */
  get evicting(): Eviction | null {
    return this.#evicting
  }

  /** Why a write was refused; null while they are taken. */
  get refusal(): Error | null {
    return this.#deps.writes.refusal
  }

  async round(): Promise<void> {
    const { redis, writes } = this.#deps
    const looks = await Promise.allSettled(nodesOf(redis).map(({ node, server }) => this.#look(node, server)))
    const seen = looks.flatMap((look) => (look.status === 'fulfilled' ? look.value : []))
    if (seen.length > 0) this.#noteEviction(seen)
    await writes.retry((refusal) => redis.set(`${tagOf(refusal)}:tried`, '', 'PX', TRIED_MS))
    const failed = looks.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }

  async #look(node: string, server: Redis): Promise<NodeInfo> {
    const { metrics, log } = this.#deps
    const info = readInfo(await server.info())
    metrics.redisMemoryUsed.set({ node }, info.usedBytes)
    metrics.redisMemoryMax.set({ node }, info.maxBytes)
    // A Cluster's own replicas are known as such.
    if (info.isReplica && !server.options.readOnly) {
      log.warn({ node }, 'this Redis is a replica by now: connecting anew')
      reopen(server)
    }
    return info
  }

  #noteEviction(nodes: readonly NodeInfo[]): void {
    const policy = nodes.find((one) => one.policy)?.policy
    const evicted = nodes.reduce((sum, { evictedKeys }) => sum + evictedKeys, 0)
    if (!policy || this.#evictedBefore === undefined) this.#evictedBefore = evicted
    if (policy && !this.#evicting)
      this.#deps.log.error(
        { policy },
        'this Redis may evict promised orders: the fast gate is shut until maxmemory-policy is noeviction',
      )
    this.#evicting = policy ? { policy, keys: Math.max(0, evicted - this.#evictedBefore) } : null
  }
}

/** The hash tag of the refused command's first key: in a Cluster another node may take writes. */
function tagOf(refusal: Error & { readonly command?: { readonly args: readonly unknown[] } }): string {
  for (const arg of refusal.command?.args ?? []) {
    const tag = SALE_KEY.exec(String(arg))?.[1]
    if (tag) return tag
  }
  return '{flash-sale}'
}
