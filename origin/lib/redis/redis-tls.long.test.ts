/** A Cluster of six nodes and a Sentinel, which speak TLS under an authority of their own to everyone. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { freePort, LOOPBACK, startChild, temporaryFolder } from '../../../dev/lib/processes.ts'
import { ensureRedis, startRedis } from '../../../dev/servers/redis.ts'
import { connectRedis } from './redis.ts'

const pki = (name: string) => fileURLToPath(new URL(`../../../test/lib/pki/${name}`, import.meta.url))
const CA = pki('ca.pem')
const TLS = ['--tls-cert-file', pki('server.pem'), '--tls-key-file', pki('server.key'), '--tls-ca-cert-file', CA]
const BY_TLS = [...TLS, '--tls-auth-clients', 'no', '--tls-replication', 'yes']
const log = pino({ level: 'silent' })
const SLOTS = 16_384
const MASTERS = 3

async function startNode(more: readonly string[]) {
  const port = await freePort()
  const server = await startRedis({ args: ['--tls-port', String(port), ...BY_TLS, ...more] })
  onTestFinished(() => server.stop())
  return { server, port, plain: new Redis({ host: LOOPBACK, port: server.port }) }
}

test('six nodes serve by TLS, and follow a failover', async () => {
  const nodes = await Promise.all(
    Array.from({ length: 2 * MASTERS }, async () => {
      const bus = await freePort()
      const cluster = ['--cluster-enabled', 'yes', '--tls-cluster', 'yes', '--cluster-port', String(bus)]
      return { bus, ...(await startNode([...cluster, '--cluster-node-timeout', '1000'])) }
    }),
  )
  onTestFinished(() => {
    for (const { plain } of nodes) plain.disconnect()
  })
  const masters = nodes.slice(0, MASTERS)
  for (const [at, { plain }] of masters.entries()) {
    const from = Math.ceil((SLOTS / MASTERS) * at)
    await plain.cluster('ADDSLOTSRANGE', from, Math.ceil((SLOTS / MASTERS) * (at + 1)) - 1)
    await plain.cluster('SET-CONFIG-EPOCH', at + 1)
  }
  for (const { plain } of nodes.slice(1))
    await plain.call('CLUSTER', 'MEET', LOOPBACK, nodes[0]?.port ?? 0, nodes[0]?.bus ?? 0)
  for (const [at, { plain }] of nodes.slice(MASTERS).entries()) {
    const id = String(await masters[at]?.plain.cluster('MYID'))
    await expect.poll(() => plain.cluster('REPLICATE', id).catch(String)).toBe('OK')
  }
  for (const { plain } of nodes) await expect.poll(() => plain.cluster('INFO')).toContain('cluster_state:ok')
  const store = connectRedis(
    `rediss+cluster://${masters.map(({ port }) => `localhost:${port}`).join(',')}?cafile=${CA}`,
    log,
  )
  onTestFinished(() => store.disconnect())
  for (const key of ['one', 'two', 'three']) await expect.poll(() => store.set(key, key).catch(String)).toBe('OK')
  const replica = nodes[MASTERS]?.plain
  await expect.poll(() => replica?.info('replication')).toContain('master_link_status:up')
  await replica?.cluster('FAILOVER')
  await expect.poll(() => replica?.role().then(([role]) => role)).toBe('master')
  for (const key of ['one', 'two', 'three']) await expect.poll(() => store.get(key).catch(String)).toBe(key)
})

test('a Sentinel names the master by TLS', async () => {
  const master = await startNode([])
  onTestFinished(() => master.plain.disconnect())
  const folder = temporaryFolder('sentinel')
  const [port, tlsPort] = [await freePort(), await freePort()]
  const settings = join(folder.path, 'sentinel.conf')
  const tls = BY_TLS.join(' ').replaceAll(/ ?--/g, '\n').trim()
  const monitor = `sentinel monitor shop ${LOOPBACK} ${master.port} 1`
  writeFileSync(settings, `port ${port}\ntls-port ${tlsPort}\nbind ${LOOPBACK}\n${tls}\n${monitor}\n`)
  const sentinel = await startChild({
    name: 'the Sentinel',
    command: await ensureRedis(),
    args: [settings, '--sentinel'],
    logFile: join(folder.path, 'sentinel.log'),
    cwd: folder.path,
  })
  const store = connectRedis(`rediss+sentinel://localhost:${tlsPort}/shop?cafile=${CA}`, log)
  onTestFinished(async () => {
    store.disconnect()
    await sentinel.stop()
    folder.remove()
  })
  await expect.poll(() => store.ping().catch(String)).toBe('PONG')
})
