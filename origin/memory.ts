/** How much memory each node of Redis uses, and may use: where it is full, it takes no more writes. */
import { Cluster } from 'ioredis'
import type { Deps } from './deps.ts'

export async function watchMemory({ redis, metrics }: Pick<Deps, 'redis' | 'metrics'>): Promise<void> {
  const nodes = redis instanceof Cluster ? redis.nodes('all') : [redis]
  await Promise.all(
    nodes.map(async (server) => {
      const { used_memory = 0, maxmemory = 0 } = figuresIn(await server.info('memory'))
      // Behind Sentinels it is now one machine and now another, under one name.
      const node = server.options.name ?? `${server.options.host}:${server.options.port}`
      metrics.redisMemoryUsed.set({ node }, used_memory)
      metrics.redisMemoryMax.set({ node }, maxmemory)
    }),
  )
}

/** The lines `name:number` of what INFO answers. */
function figuresIn(info: string): Readonly<Partial<Record<string, number>>> {
  return Object.fromEntries(
    [...info.matchAll(/^(\w+):(\d+)\r?$/gm)].map(([, name, value]) => [name, Number(value)]),
  )
}
