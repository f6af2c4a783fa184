/**
 * A real Redis Cluster for tests: three masters with a third of the slots each, and a replica of the first, so that
 * one master can be killed and replaced while the others serve their slots. It is formed with ioredis, without
 * redis-cli.
 */
import { Redis } from 'ioredis'
import { expect, vi } from 'vitest'
import { freePort, LOOPBACK, type Server } from '../../dev/lib/processes.ts'
import { startRedis } from '../../dev/servers/redis.ts'
import { POLL_WITHIN_MS } from '../run/patience.ts'

export interface RedisCluster {
  /** The address has the form redis+cluster://127.0.0.1:p1,127.0.0.1:p2,127.0.0.1:p3. */
  readonly url: string
  /** Kills the master that has the replica, like a crash. */
  killMaster(): Promise<void>
  stop(): Promise<void>
}

interface Node {
  readonly server: Server
  readonly busPort: number
}

export const MASTERS = 3
export const SLOTS = 16_384
const FORMED = { timeout: POLL_WITHIN_MS, interval: 25 }

export async function startRedisCluster(): Promise<RedisCluster> {
  const nodes: Node[] = []
  const stop = async () => {
    await Promise.all(nodes.map(({ server }) => server.stop()))
  }
  try {
    nodes.push(...(await Promise.all(Array.from({ length: MASTERS + 1 }, startNode))))
    await form(nodes)
  } catch (error) {
    await stop()
    throw error
  }
  const masters = nodes.slice(0, MASTERS).map(({ server }) => server)
  return {
    url: `redis+cluster://${masters.map(({ port }) => `${LOOPBACK}:${port}`).join(',')}`,
    killMaster: async () => masters[0]?.kill(),
    stop,
  }
}

async function startNode(): Promise<Node> {
  const busPort = await freePort()
  const server = await startRedis({
    args: [
      ...['--cluster-enabled', 'yes', '--cluster-port', String(busPort)],
      ...['--cluster-node-timeout', '1000', '--cluster-require-full-coverage', 'no'],
      // The first synchronisation does not wait for further replicas, and a stopping master does not wait for its
      // replica.
      ...['--repl-diskless-sync-delay', '0', '--shutdown-timeout', '0'],
    ],
  })
  return { server, busPort }
}

/** Forms a cluster of nodes that do not know each other. The last becomes the replica of the first. */
async function form(servers: readonly Node[]): Promise<void> {
  const nodes = servers.map(({ server }) => connect(server.port))
  try {
    const [first, replica] = [nodes[0], nodes[MASTERS]] as [Redis, Redis]
    for (const [index, node] of nodes.slice(0, MASTERS).entries()) {
      await node.cluster('ADDSLOTSRANGE', firstSlot(index), firstSlot(index + 1) - 1)
      // Masters with the same epoch would first have to agree on the greater one.
      await node.cluster('SET-CONFIG-EPOCH', index + 1)
    }
    for (const [index, { server, busPort }] of servers.entries()) {
      for (const node of nodes.slice(0, index)) await node.cluster('MEET', LOOPBACK, server.port, busPort)
    }
    const firstId = await first.cluster('MYID')
    await vi.waitFor(async () => expect(await replica.cluster('REPLICATE', firstId)).toBe('OK'), FORMED)
    await vi.waitFor(async () => expect(await replica.info('replication')).toContain('master_link_status:up'), FORMED)
    for (const node of nodes) await vi.waitFor(() => knowsAll(node, firstId), FORMED)
  } finally {
    for (const node of nodes) node.disconnect()
  }
}

/** A node that knows only itself also reports ok, because full coverage is not required. */
async function knowsAll(node: Redis, firstId: string): Promise<void> {
  const info = await node.cluster('INFO')
  expect(info).toContain('cluster_state:ok')
  expect(info).toContain(`cluster_slots_ok:${SLOTS}`)
  expect(await node.cluster('NODES')).toContain(`slave ${firstId}`)
}

function connect(port: number): Redis {
  const redis = new Redis({
    host: LOOPBACK,
    port,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    commandTimeout: POLL_WITHIN_MS,
  })
  redis.on('error', () => {})
  return redis
}

const firstSlot = (master: number) => Math.ceil((master * SLOTS) / MASTERS)
