/**
 * The commands of docs/first-sale.md, as they stand and in their order, until the first order is refunded. The stores,
 * the processes and the Worker are real. The page says what is played.
 */
import { chmodSync, chownSync, copyFileSync, cpSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { execa } from 'execa'
import { Redis } from 'ioredis'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FlashSale } from '../client/src/index.ts'
import { freePort, LOOPBACK, type Server, temporaryFolder } from '../dev/lib/processes.ts'
import { ensureProgram, findOnPath } from '../dev/servers/install.ts'
import { startPostgres } from '../dev/servers/postgres.ts'
import { startRedis } from '../dev/servers/redis.ts'
import { startEdge } from '../dev/servers/workerd.ts'
import { Cluster } from '../test/stand-ins/cloud/cluster.ts'
import { type Answer, servePrograms } from '../test/stand-ins/cloud/programs.ts'
import { startStripe } from '../test/stand-ins/stripe.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PAGE = join(ROOT, 'docs/first-sale.md')
const DOMAIN = 'sale.test'
const CA = join(ROOT, 'test/lib/pki/ca.pem')
const AUTHORITIES = 'https://truststore.pki.rds.amazonaws.com/global/global-bundle.pem'
const GENERATED = /\/(node_modules|dist|\.wrangler|\.git|\.data|results)$/
const OWNER = 'flash_sale_owner'
const PASSWORD = 'the-password-of-the-owner'
/** What ElastiCache does not offer, and refuses in the rules of a user. */
const FORBIDDEN = /\+(bgrewriteaof|bgsave|config|debug|migrate|replicaof|save|slaveof|shutdown|sync)\b/
const WITHIN_MS = 600_000

const folder = temporaryFolder('first-sale')
const [code, bin, pods] = ['code', 'bin', 'pods'].map((name) => join(folder.path, name)) as [string, string, string]
const stops: (() => unknown)[] = [() => folder.remove()]
const later = <T extends { stop: () => unknown }>(one: T): T => {
  stops.push(() => one.stop())
  return one
}
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop()
})

beforeAll(async () => {
  for (const [name, apt] of [
    ['kubectl', 'kubernetes-client'],
    ['psql', 'postgresql-client'],
    ['jq', 'jq'],
  ] as const)
    await ensureProgram({ name, binaries: [name], apt, brew: name, otherwise: 'skip this test' })
  for (const path of [bin, pods]) mkdirSync(path)
  cpSync(ROOT, code, { recursive: true, filter: (path) => !GENERATED.test(path) })
  symlinkSync(join(ROOT, 'node_modules'), join(code, 'node_modules'))
  await execa('git', ['init', '-q'], { cwd: code })
}, WITHIN_MS)

/** A Postgres that speaks TLS, with a database whose owner is no superuser, as RDS has them. */
async function startLedger(): Promise<Server> {
  const server = later(await startPostgres())
  const sql = postgres(server.url, { max: 1, onnotice: () => {} })
  const [{ at = '' } = {}] = await sql<{ at: string }[]>`select current_setting('data_directory') as at`
  for (const [name, own] of Object.entries({ 'server.pem': 'server.crt', 'server.key': 'server.key' })) {
    const { uid, gid } = statSync(at)
    copyFileSync(join(ROOT, 'test/lib/pki', name), join(at, own))
    chmodSync(join(at, own), 0o600)
    chownSync(join(at, own), uid, gid)
  }
  await sql`alter system set ssl = on`
  await sql`select pg_reload_conf()`
  await sql.unsafe(`create role rdsadmin superuser login password '${PASSWORD}'`)
  await sql.end()
  const admin = postgres(server.url, { max: 1, username: 'rdsadmin', password: PASSWORD })
  // The page makes a role of this name.
  await admin`alter role flash_sale rename to renamed`
  await admin.unsafe(`create role ${OWNER} login createrole password '${PASSWORD}'`)
  await admin.unsafe(`alter database flash_sale owner to ${OWNER}`)
  await admin.end()
  return server
}

async function startGate() {
  const port = await freePort()
  const pki = (name: string) => join(ROOT, 'test/lib/pki', name)
  const tls = ['--tls-cert-file', pki('server.pem'), '--tls-key-file', pki('server.key'), '--tls-ca-cert-file', CA]
  const server = later(await startRedis({ args: ['--tls-port', String(port), '--tls-auth-clients', 'no', ...tls] }))
  return { server, port }
}

/** ElastiCache: users, of which a group belongs to the Redis from a call on. */
function elastiCache(redis: Redis) {
  const users = new Map<string, readonly string[]>()
  const groups = new Map<string, readonly string[]>()
  return async (args: readonly string[]): Promise<Answer> => {
    const [service, command] = args
    expect(service).toBe('elasticache')
    const valuesOf = (flag: string) => {
      const from = args.indexOf(flag) + 1
      const end = args.findIndex((arg, at) => at >= from && arg.startsWith('--'))
      return from === 0 ? [] : args.slice(from, end < 0 ? args.length : end)
    }
    const id = (flag: string) => valuesOf(flag).join(' ')
    switch (command) {
      case 'create-user': {
        const rules = id('--access-string')
        if (FORBIDDEN.test(rules) || !/^(on|off) /.test(rules)) throw new Error(`the rules are refused: ${rules}`)
        const password = id('--passwords')
        if (password.length < 16) throw new Error('a password has 16 characters or more')
        users.set(id('--user-id'), [id('--user-name'), 'reset', `>${password}`, ...rules.split(' ')])
        return {}
      }
      case 'create-user-group': {
        const members = valuesOf('--user-ids').map((user) => users.get(user) ?? [])
        if (!members.some(([name]) => name === 'default')) throw new Error('a group needs a user named default')
        groups.set(id('--user-group-id'), valuesOf('--user-ids'))
        return {}
      }
      case 'modify-replication-group':
        for (const user of groups.get(id('--user-group-ids-to-add')) ?? [])
          await redis.call('ACL', 'SETUSER', ...(users.get(user) ?? []))
        return {}
      default:
        return { status: 2, err: `unknown: ${args.join(' ')}\n` }
    }
  }
}

/** The variables of an environment in wrangler.toml. */
function variablesOf(environment: string): Record<string, string> {
  const [, section = ''] = readFileSync(join(code, 'wrangler.toml'), 'utf8').split(`[env.${environment}]`)
  const [, vars = ''] = /^vars = \{(.*)\}$/m.exec(section) ?? []
  return Object.fromEntries(Array.from(vars.matchAll(/(\w+) = "([^"]*)"/g), ([, name, value]) => [name, value]))
}

test('each command of docs/first-sale.md leads to a first sale', { timeout: WITHIN_MS }, async () => {
  const [ledger, gate] = [await startLedger(), await startGate()]
  const redis = new Redis(gate.server.url)
  stops.push(() => redis.disconnect())
  const [publishable, secretKey, webhookSecret] = ['pk_live_first', 'sk_live_first', `whsec_${'w'.repeat(32)}`]
  const images = new Set<string>()
  const urls: Record<string, string> = {}
  const local = (text: string) => text.replace(/https:\/\/(\w+)\.sale\.test/g, (all, host) => urls[host] ?? all)
  const stripe = later(
    await startStripe({ secretKey, webhookSecret, webhookUrl: () => `${urls.origin}/webhooks/stripe` }),
  )
  const cluster = later(
    new Cluster({
      code,
      folder: pods,
      images,
      local,
      env: { STRIPE_API_URL: stripe.url, NODE_EXTRA_CA_CERTS: CA },
    }),
  )
  for (const host of ['origin', 'internal']) urls[host] = later(await cluster.ingress(`${host}.${DOMAIN}`)).url
  const edgePort = await freePort()
  urls.queue = `http://${LOOPBACK}:${edgePort}`

  const wrangler = async (args: readonly string[]) => {
    const at = args.indexOf('--secrets-file') + 1
    const env = { WRANGLER_SEND_METRICS: 'false', WRANGLER_LOG_PATH: folder.path }
    const { stdout } = await execa('wrangler', [...args, '--dry-run'], { cwd: code, env })
    const environment = args[args.indexOf('--env') + 1]
    if (at === 0 || environment === undefined) return { out: stdout }
    const secrets = parseEnv(readFileSync(join(code, args[at] ?? ''), 'utf8')) as Record<string, string>
    const set = Object.entries(variablesOf(environment)).map(([name, value]) => [name, local(value)])
    const vars = { ADMISSION_KEYS: '', ...secrets, ...Object.fromEntries(set) }
    later(
      await startEdge({ port: edgePort, originUrl: vars.ORIGIN_URL, dataDir: join(folder.path, 'edge'), vars, code }),
    )
    return { out: stdout }
  }
  const podman = async ([command, ...args]: readonly string[]): Promise<Answer> => {
    if (command === 'push') images.add(args.at(-1) ?? '')
    else if (command === 'build') {
      statSync(join(code, args[args.indexOf('-f') + 1] ?? ''))
      await execa('node', ['origin/operators/console-build.ts'], { cwd: code })
    } else return { status: 2, err: `unknown: ${command}\n` }
    return {}
  }
  const passed = (name: string, played: (args: readonly string[]) => Answer | undefined) => {
    const program = findOnPath(name) ?? name
    return async (args: readonly string[]): Promise<Answer> => {
      const answer = played(args)
      if (answer) return answer
      const { exitCode, stdout, stderr } = await execa(program, args, { cwd: code, reject: false, env: { PATH } })
      return { status: exitCode ?? 1, out: stdout && `${stdout}\n`, err: stderr }
    }
  }
  let bought: string | undefined
  const buy = async (): Promise<Answer> => {
    const shop = new FlashSale(urls.queue ?? '')
    // The edge hears of a new sale within seconds.
    await expect.poll(() => shop.sale('first').catch(String)).toMatchObject({ sale: 'first' })
    const turn = await (await shop.join('first')).wait()
    const order = await turn.checkOut({ lines: [{ product_id: 'one', quantity: 1 }] })
    await order.pay('pm_card_visa')
    const { order_id, status } = await order.settled()
    expect(status).toBe('confirmed')
    bought = order_id
    return {}
  }
  const PATH = `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`
  later(
    await servePrograms(bin, {
      podman,
      kubectl: cluster.kubectl,
      aws: elastiCache(redis),
      npx: async ([program, ...args]) => (program === 'wrangler' ? wrangler(args) : { status: 2 }),
      'buy-by-card': buy,
      npm: passed('npm', ([command]) => (command === 'ci' ? {} : undefined)),
      curl: passed('curl', (args) => {
        if (!args.includes(AUTHORITIES)) return undefined
        copyFileSync(CA, join(code, args.at(-2) ?? ''))
        return {}
      }),
    }),
  )

  const site: Record<string, string> = {
    DOMAIN,
    IMAGE: 'registry.test/flash-sale',
    POSTGRES: `localhost:${ledger.port}`,
    POSTGRES_OWNER: OWNER,
    POSTGRES_OWNER_PASSWORD: PASSWORD,
    REDIS: `localhost:${gate.port}`,
    REDIS_GROUP: 'flash-sale',
    STRIPE_PUBLISHABLE_KEY: publishable,
    STRIPE_SECRET_KEY: secretKey,
    STRIPE_WEBHOOK_SECRET: webhookSecret,
    SMTP_URL: `smtps://user:password@${LOOPBACK}:${await freePort()}`,
    IMAGES_S3_ACCESS_KEY_ID: 'an-id',
    IMAGES_S3_SECRET_ACCESS_KEY: 'a-key',
  }
  const text = readFileSync(PAGE, 'utf8')
  const blocks = Array.from(text.matchAll(/^```sh\n([\s\S]*?)^```$/gm), ([, block = '']) => block)
  // The reader's own values, and the addresses that the reader's hosts have here.
  const own = (block: string) =>
    block
      .replace(/^(\w+)=.*$/gm, (line, name) => (block.startsWith('cat > .env.site') ? `${name}=${site[name]}` : line))
      .replace(/https:\/\/(\w+)\.\$DOMAIN/g, (all, host) => urls[host] ?? all)
  expect(wordsIn(blocks[0] ?? '')).toEqual(Object.keys(site))

  // The reader buys between the last two blocks.
  const before = blocks.findIndex((block) => block.startsWith('ORDER='))
  const script = blocks.map(own).toSpliced(before, 0, 'buy-by-card\n').join('')
  const { stdout, stderr, exitCode } = await execa('bash', ['-euxo', 'pipefail', '-c', script], {
    cwd: code,
    reject: false,
    env: { PATH: `${bin}:${PATH}` },
    timeout: WITHIN_MS,
  })

  expect(
    exitCode,
    `${stdout.split('\n').slice(-3)}${stderr.split('\n').slice(-20).join('\n')}\n${cluster.log('flash-sale-api')}`,
  ).toBe(0)
  expect(stdout).toContain('flash_sale_probe_success 1')
  const [charge] = stripe.intents(bought)
  expect(charge).toMatchObject({ status: 'succeeded', amount: 100 })
  await expect.poll(() => stripe.intents(bought)[0]?.refunded).toBe(true)
  const { holds } = JSON.parse(/^\{.*"holds".*\}$/m.exec(stdout)?.[0] ?? '{}').invariant ?? {}
  expect(holds).toBe(true)
})

const wordsIn = (block: string) => Array.from(block.matchAll(/^(\w+)=/gm), ([, name]) => name)
