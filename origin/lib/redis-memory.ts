/** How much memory each node of Redis uses, and may use: where it is full, it takes no more writes. */
import type { Deps } from '../deps.ts'
import { nodesOf } from './redis.ts'

export async function watchMemory({ redis, metrics }: Pick<Deps, 'redis' | 'metrics'>): Promise<void> {
  await Promise.all(
    nodesOf(redis).map(async ({ node, server }) => {
      const { used_memory = 0, maxmemory = 0 } = figuresIn(await server.info('memory'))
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
