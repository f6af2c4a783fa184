/** `npm start` as a person meets it: what it prints, how it fails, and that it leaves nothing behind. */
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { readPidFile, stopLeftovers } from '../dev/leftovers.ts'
import { startRedisCluster } from './lib/redis-cluster.ts'
import { useDatabase } from './lib/servers.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const START = join(ROOT, 'dev/start.ts')
const UP = { timeout: 120_000 }
const GONE = { timeout: 60_000 }

/** Most starts are given a Postgres, which they need not make then. */
const ledger = useDatabase()

describe('a start that fails says why in one line and leaves nothing:', () => {
  test.each(['PORT', 'EDGE_PORT', 'OPS_PORT'])('%s is taken', async (name) => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect(await failure({ env: { [name]: String(port) } })).toBe(
      `Could not start: Port ${port} is taken: stop what uses it, or set ${name} to another.\n`,
    )
    server.close()
  })

  test.each([
    ['PORT', '70000', /^PORT must be a port/],
    ['PORT', '6666', /^Could not start: Browsers refuse port 6666: set PORT to another\./],
    ['EDGE_PORT', '10080', /^Could not start: Browsers refuse port 10080: set EDGE_PORT to another\./],
    ['ADMIN_TOKEN', 'hunter2 and more', /^ADMIN_TOKEN may hold/],
    ['LOG_LEVEL', 'loud', /^Could not start: the origin ended at once .*LOG_LEVEL/],
    ['POW_DIFFICULTY', 'hard', /^Could not start: The edge does not accept its settings: POW_DIFFICULTY/],
    ['EDGE_PORT', 'http', /^EDGE_PORT must be a port/],
    ['DATABASE_URL', 'mysql://root:hunter2@localhost/shop', /^Could not start: DATABASE_URL is not an address/],
    ['DATABASE_URL', 'postgres://me:hunter2@127.0.0.1:1/shop', /\(127\.0\.0\.1:1\) does not serve: .*ECONNREFUSED/],
    ['REDIS_URL', 'localhost', /^Could not start: REDIS_URL is not an address/],
    ['REDIS_URL', 'redis://:hunter2@127.0.0.1:1', /\(127\.0\.0\.1:1\) does not serve: .*ECONNREFUSED/],
    [
      'REDIS_URL',
      'redis+cluster://me:hunter2@127.0.0.1:1,127.0.0.1:2',
      /\(127\.0\.0\.1:1,127\.0\.0\.1:2\) does not serve: /,
    ],
    ['REDIS_URL', 'redis+sentinel://me:hunter2@127.0.0.1:1/shop', /\(127\.0\.0\.1:1\) does not serve: /],
  ])('%s is %s', async (name, value, message) => {
    expect(await failure({ env: { DATABASE_URL: ledger.url, [name]: value } })).toMatch(message)
  })

  test('the data folder is a file', async () => {
    const file = join(ownFolder(), 'file')
    writeFileSync(file, '')
    expect(await failure({ args: ['--data', file] })).toMatch(
      /^Could not start: The data folder .* cannot be used \(EEXIST\): /,
    )
  })

  // A file in place of the folder: another user's folder would not keep root out.
  test.each(['redis', 'logs'])('the folder %s in the data folder cannot be used', async (name) => {
    const folder = ownFolder()
    writeFileSync(join(folder, name), '')
    const error = await failure({ args: ['--data', folder], env: { DATABASE_URL: ledger.url } })
    expect(error).toMatch(/^Could not start: The data folder .* cannot be used /)
    expect(error).toContain(`(EEXIST: ${name})`)
  })

  test.skipIf(!existsSync('/dev/full'))('the disk of the data folder is full', async () => {
    const folder = ownFolder()
    symlinkSync('/dev/full', join(folder, 'secrets.json.unfinished'))
    expect(await failure({ args: ['--data', folder] })).toMatch(
      /^Could not start: The disk with .* is full \(ENOSPC\): /,
    )
  })

  test('there is no folder for temporary files', async () => {
    expect(await failure({ env: { TMPDIR: '/nowhere' } })).toMatch(
      /^Could not start: Cannot make a folder in \/nowhere \(ENOENT\): /,
    )
  })

  test.each(['{}', '{', '[]'])('the secrets are %s', async (text) => {
    const folder = ownFolder()
    writeFileSync(join(folder, 'secrets.json'), text)
    expect(await failure({ args: ['--data', folder] })).toMatch(
      /^Could not start: The secrets in .*secrets\.json cannot be read: /,
    )
  })

  test('an option is unknown', async () => {
    expect(await failure({ args: ['--colour'] })).toBe("Unknown option '--colour'. See npm start -- --help\n")
  })
})

test('--help lists the options and starts nothing', async () => {
  const run = await start({ args: ['--help'] }).finished()
  expect(run.status).toBe(0)
  expect(run.out).toContain('--temporary')
  expect(run.err).toBe('')
})

/** Of the shell: settings for other servers, the machine, containers and a proxy. */
const NOT_OURS = {
  PGSSLMODE: 'require',
  PGSSL: 'require',
  PGTARGETSESSIONATTRS: 'any',
  PGOPTIONS: '--nonsense=1',
  HOST: 'x86_64-conda-linux-gnu',
  NODE_ENV: 'production',
  NODE_USE_ENV_PROXY: '1',
  HTTP_PROXY: 'http://127.0.0.1:1',
}

test('serves a demo sale whatever the shell has set, keeps it over Ctrl-C, a kill and the death of a server, and leaves nothing', async () => {
  const folder = join(ownFolder(), 'data with spaces')
  const first = start({ args: ['--data', folder], env: NOT_OURS })
  await first.up()
  expect(first.out()).not.toContain('\x1b')
  const page = await served(`${first.edgeUrl}/sales/demo`)
  expect(page.headers.get('content-type')).toContain('text/html')
  const members = await (await served(`${first.edgeUrl}/sales/members`)).text()
  const signInUrl = /Sign in +(\S+)/.exec(first.out())?.[1] ?? ''
  expect(members).toContain(`href="${signInUrl}?return=`)
  expect((await fetch(signInUrl)).status).toBe(200)
  const before = await demo(first, folder)
  const joined = await served(`${first.edgeUrl}/sales/demo/queue`, { method: 'POST' })
  const place = (await joined.json()) as { number: number; queue_token: string }
  expect(before.products.map((p) => p.product_id)).toEqual(['poster', 'vinyl'])
  expect(statSync(join(folder, 'secrets.json')).mode & 0o077).toBe(0)
  expect(statSync(join(folder, 'admin-token')).mode & 0o077).toBe(0)

  const crowd = /send a crowd +(.*)/.exec(first.out())?.[1] ?? ''
  expect(await begun(crowd)).toMatch(/sale rehearsal-/)
  expect(first.out()).not.toContain(before.token)

  const second = await start({ args: ['--data', folder] }).finished()
  expect(second.err).toMatch(/^Could not start: Process \d+ is already running a system on /)

  const stopped = await first.end('SIGINT')
  expect(stopped.status).toBe(0)
  expect(stopped.err).toBe('')
  expect(stopped.out).toMatch(/Stopped\.\n$/)
  expect(await remains(stopped)).toEqual([])
  expect(globSync('start.*', { cwd: folder })).toEqual([])
  for (const url of [first.originUrl, first.edgeUrl, signInUrl])
    await expect(fetch(url)).rejects.toThrow('fetch failed')

  const killed = start({ args: ['--data', folder], env: { ADMIN_TOKEN: 'of-their-own' } })
  await killed.up()
  const after = await demo(killed, folder)
  expect(after.opens_at).toBe(before.opens_at)
  expect(after.token).toBe('of-their-own')
  const status = await served(`${killed.edgeUrl}/sales/demo/queue/status`, {
    headers: { authorization: `Bearer ${place.queue_token}` },
  })
  expect(await status.json()).toMatchObject({ number: place.number })
  const newcomer = await served(`${killed.edgeUrl}/sales/demo/queue`, { method: 'POST' })
  expect(((await newcomer.json()) as { number: number }).number).toBeGreaterThan(place.number)

  const left = await killed.end('SIGKILL')
  expect(left.servers).toHaveLength(4)
  const env = { PORT: String(killed.port), EDGE_PORT: String(killed.edgePort) }
  const next = start({ args: ['--data', folder], env })
  await next.up()
  expect(await remains(left)).toEqual([])
  const redis = next.servers().find((file) => file.endsWith('redis.pid')) ?? ''
  process.kill(readPidFile(redis)?.pid ?? 0, 'SIGKILL')
  const ended = await next.finished()
  expect(ended.status).toBe(1)
  expect(ended.err).toMatch(/^Redis ended unexpectedly \(SIGKILL\)\./)
  expect(await remains(ended)).toEqual([])
})

test('accepts a Redis Cluster that already runs, and stops on SIGTERM', async () => {
  const cluster = await startRedisCluster()
  try {
    const run = start({ args: ['--temporary', '--no-demo'], env: { DATABASE_URL: ledger.url, REDIS_URL: cluster.url } })
    await run.up()
    expect(await (await fetch(`${run.opsUrl}/readyz`)).json()).toEqual({ ledger: true, gate: true })
    expect((await run.end('SIGTERM')).status).toBe(0)
  } finally {
    await cluster.stop()
  }
})

test('Ctrl-C during the start stops what has started', async () => {
  const run = start()
  await vi.waitUntil(() => run.servers().some((file) => file.endsWith('postgres.pid')), UP)
  const ended = await run.end('SIGINT')
  expect(ended.status).toBe(0)
  expect(ended.err).toBe('')
  expect(await remains(ended)).toEqual([])
})

// -- Running it ------------------------------------------------------------------------------------------------------

type Running = ReturnType<typeof start>
type Ended = Awaited<ReturnType<Running['finished']>>

const folders: string[] = []
const ends: (() => PromiseLike<unknown>)[] = []
let nextPort = 0

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  for (const folder of folders.splice(0)) {
    await stopLeftovers(folder)
    rmSync(folder, { recursive: true, force: true })
  }
})

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'flash-sale-test-'))
  folders.push(folder)
  return folder
}

function spawn(command: string, args: string[], env: Record<string, string> = {}) {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = execa(command, args, {
    cwd: ROOT,
    stdin: 'ignore',
    all: true,
    reject: false,
    stripFinalNewline: false,
    detached: true,
    extendEnv: false,
    env: { PATH, NODE_COMPILE_CACHE, ...env },
  })
  ends.push(() => {
    child.kill()
    return child
  })
  return child
}

/** Runs it with free ports and a temporary folder of its own, as `npm start` does without a terminal. */
function start({ args = ['--temporary'], env = {} }: { args?: string[]; env?: Record<string, string> } = {}) {
  const temporaryRoot = ownFolder()
  // Below the ephemeral range and the ports that other test files take, and above the last one that browsers refuse.
  const port = 10_100 + ((process.pid * 16 + nextPort++ * 3) % 4_900)
  const child = spawn(process.execPath, [START, ...args], {
    HOME: temporaryRoot,
    TMPDIR: temporaryRoot,
    PORT: String(port),
    EDGE_PORT: String(port + 1),
    OPS_PORT: String(port + 2),
    ...env,
  })
  let out = ''
  child.stdout.on('data', (text: Buffer) => {
    out += text
  })
  const copies = ownFolder()
  const dataDir = args.includes('--data') ? args[args.indexOf('--data') + 1] : undefined
  /** Copies of the pid files of its servers, as last seen. */
  const servers = () => {
    const cwd = dataDir ?? temporaryRoot
    for (const file of globSync(dataDir ? '*/*.pid' : 'flash-sale-*/*/*.pid', { cwd })) {
      try {
        copyFileSync(join(cwd, file), join(copies, basename(file)))
      } catch (error) {
        // Its process has just ended.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    }
    return readdirSync(copies).map((file) => join(copies, file))
  }
  const finished = async () => {
    const { exitCode: status, stdout, stderr: err } = await child
    return { status, out: stdout, err, servers: servers(), temporaryRoot }
  }
  return {
    port,
    edgePort: port + 1,
    originUrl: `http://127.0.0.1:${port}`,
    opsUrl: `http://127.0.0.1:${port + 2}`,
    edgeUrl: `http://127.0.0.1:${port + 1}`,
    out: () => out,
    servers,
    finished,
    async up() {
      await vi.waitUntil(() => out.includes('Sale page') || child.exitCode !== null, UP)
      if (child.exitCode !== null) throw new Error(`It did not start: ${(await child).all}`)
      servers()
    },
    end(signal: NodeJS.Signals) {
      servers()
      child.kill(signal)
      return finished()
    },
  }
}

/** The one line of a start that fails. */
async function failure(options: Parameters<typeof start>[0]): Promise<string> {
  const run = await start(options).finished()
  expect(run.status).toBeGreaterThan(0)
  expect(run.err).toMatch(/^.*\n$/)
  expect(run.err + run.out).not.toContain('hunter2')
  expect(await remains(run)).toEqual([])
  return run.err
}

/** Runs the rehearsal that was printed until its sale exists, then interrupts it; returns its output. */
async function begun(command: string): Promise<string | undefined> {
  const child = spawn('sh', ['-c', `exec ${command}`])
  let output = ''
  child.all.on('data', (text: Buffer) => {
    output += text
  })
  await vi.waitUntil(() => output.includes('sale rehearsal-') || child.exitCode !== null, UP)
  if (child.exitCode === null) process.kill(-(child.pid ?? 0), 'SIGINT')
  return (await child).all
}

/** A response of the edge: a busy one that has just started asks to try again at first. */
function served(url: string, init?: RequestInit): Promise<Response> {
  const ask = async () => {
    const response = await fetch(url, init)
    return response.status !== 503 && response
  }
  return vi.waitUntil(ask, UP)
}

async function demo(run: Running, folder: string) {
  const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim()
  const response = await fetch(`${run.originUrl}/admin/sales/demo`, {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(response.status).toBe(200)
  const state = (await response.json()) as { opens_at: string; products: { product_id: string }[] }
  return { token, ...state }
}

/** What is left of a run after a while: servers that still run, and files in its temporary folder. */
async function remains(run: Ended): Promise<string[]> {
  const look = () => [
    ...run.servers.filter((file) => readPidFile(file)?.runs).map((file) => basename(file)),
    ...readdirSync(run.temporaryRoot).filter((file) => file.startsWith('flash-sale-')),
  ]
  await vi.waitUntil(() => look().length === 0, GONE).catch(() => {})
  return look()
}
