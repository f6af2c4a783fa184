/** `npm start` as a person meets it: what it prints, how it fails, and that it leaves nothing behind. */
import { type ChildProcess, spawn } from 'node:child_process'
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
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { readPidFile, stopLeftovers } from '../dev/leftovers.ts'
import { freePort } from '../dev/processes.ts'
import { startRedisCluster } from './redis-cluster.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const START = join(ROOT, 'dev/start.ts')
const UP_WITHIN_MS = 40_000
const GONE_WITHIN_MS = 15_000

describe('a start that fails says why in one line', () => {
  test.each(['PORT', 'EDGE_PORT'])('%s is taken', async (name) => {
    const { port, server } = await occupiedPort()
    const run = await start({ env: { [name]: String(port) } }).finished()
    server.close()
    expect(run.status).toBe(1)
    expect(run.err).toBe(
      `Could not start: Port ${port} is taken: stop what uses it, or set ${name} to another.\n`,
    )
    expect(await remains(run)).toEqual([])
  })

  test.each([
    ['PORT', '70000', /^PORT must be a port/],
    ['PORT', '6666', /^Could not start: Browsers refuse port 6666: set PORT to another\./],
    ['EDGE_PORT', '10080', /^Could not start: Browsers refuse port 10080: set EDGE_PORT to another\./],
    ['ADMIN_TOKEN', 'hunter2 and more', /^ADMIN_TOKEN may hold/],
    ['LOG_LEVEL', 'loud', /^Could not start: the origin ended at once .*LOG_LEVEL/],
    ['POW_DIFFICULTY', 'hard', /^Could not start: The edge does not accept its settings: POW_DIFFICULTY/],
    ['EDGE_PORT', 'http', /^EDGE_PORT must be a port/],
    [
      'DATABASE_URL',
      'mysql://root:hunter2@localhost/shop',
      /^Could not start: DATABASE_URL is not an address/,
    ],
    [
      'DATABASE_URL',
      'postgres://me:hunter2@127.0.0.1:1/shop',
      /\(127\.0\.0\.1:1\) does not serve: .*ECONNREFUSED/,
    ],
    ['REDIS_URL', 'localhost', /^Could not start: REDIS_URL is not an address/],
    ['REDIS_URL', 'redis://:hunter2@127.0.0.1:1', /\(127\.0\.0\.1:1\) does not serve: .*ECONNREFUSED/],
    [
      'REDIS_URL',
      'redis+cluster://me:hunter2@127.0.0.1:1,127.0.0.1:2',
      /\(127\.0\.0\.1:1,127\.0\.0\.1:2\) does not serve: /,
    ],
    ['REDIS_URL', 'redis+sentinel://me:hunter2@127.0.0.1:1/shop', /\(127\.0\.0\.1:1\) does not serve: /],
  ])('%s is %s', async (name, value, message) => {
    const run = await start({ env: { [name]: value } }).finished()
    expect(run.status).toBeGreaterThan(0)
    expect(run.err).toMatch(message)
    expect(run.err.trimEnd().split('\n')).toHaveLength(1)
    expect(run.err + run.out).not.toContain('hunter2')
    expect(await remains(run)).toEqual([])
  })

  test('the data folder is a file', async () => {
    const file = join(ownFolder(), 'file')
    writeFileSync(file, '')
    const run = await start({ args: ['--data', file] }).finished()
    expect(run.status).toBe(1)
    expect(run.err).toMatch(/^Could not start: The data folder .* cannot be used \(EEXIST\): .*\n$/)
  })

  // A file in place of the folder: another user's folder would not keep root out.
  test.each(['redis', 'logs'])('the folder %s in the data folder cannot be used', async (name) => {
    const folder = ownFolder()
    writeFileSync(join(folder, name), '')
    const run = await start({ args: ['--data', folder] }).finished()
    expect(run.status).toBe(1)
    expect(run.err).toMatch(/^Could not start: The data folder .* cannot be used \(EEXIST: \w+\): .*\n$/)
    expect(run.err).toContain(`EEXIST: ${name}`)
    expect(await remains(run)).toEqual([])
  })

  test.skipIf(!existsSync('/dev/full'))('the disk of the data folder is full', async () => {
    const folder = ownFolder()
    symlinkSync('/dev/full', join(folder, 'secrets.json.unfinished'))
    const run = await start({ args: ['--data', folder] }).finished()
    expect(run.status).toBe(1)
    expect(run.err).toMatch(/^Could not start: The disk with .* is full \(ENOSPC\): .*\n$/)
  })

  test('there is no folder for temporary files', async () => {
    const run = await start({ env: { TMPDIR: '/nowhere' } }).finished()
    expect(run.status).toBe(1)
    expect(run.err).toMatch(/^Could not start: Cannot make a folder in \/nowhere \(ENOENT\): .*\n$/)
  })

  test.each(['{}', '{', '[]'])('the secrets are %s', async (text) => {
    const folder = ownFolder()
    writeFileSync(join(folder, 'secrets.json'), text)
    const run = await start({ args: ['--data', folder] }).finished()
    expect(run.status).toBe(1)
    expect(run.err).toMatch(/^Could not start: The secrets in .*secrets\.json cannot be read: .*\n$/)
  })

  test('an option is unknown', async () => {
    const run = await start({ args: ['--colour'] }).finished()
    expect(run.status).toBe(2)
    expect(run.err).toBe("Unknown option '--colour'. See npm start -- --help\n")
  })
})

test('--help lists the options and starts nothing', async () => {
  const run = await start({ args: ['--help'] }).finished()
  expect(run.status).toBe(0)
  expect(run.out).toContain('--temporary')
  expect(run.err).toBe('')
})

test('serves a demo sale, keeps it and every place in line over a restart, and leaves nothing after Ctrl-C', async () => {
  const folder = join(ownFolder(), 'data with spaces')
  const first = start({ args: ['--data', folder] })
  await first.up()
  expect(first.out()).not.toContain('\x1b')
  const page = await fetch(`${first.edgeUrl}/sales/demo`)
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toContain('text/html')
  const before = await demo(first, folder)
  const joined = await fetch(`${first.edgeUrl}/sales/demo/queue`, { method: 'POST' })
  const place = (await joined.json()) as { number: number; queue_token: string }
  expect(before.state.products.map((p) => p.product_id)).toEqual(['poster', 'vinyl'])
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
  for (const url of [first.originUrl, first.edgeUrl]) await expect(fetch(url)).rejects.toThrow('fetch failed')

  const again = start({ args: ['--data', folder], env: { ADMIN_TOKEN: 'of-their-own' } })
  await again.up()
  const after = await demo(again, folder)
  expect(after.opens_at).toBe(before.opens_at)
  expect(after.token).toBe('of-their-own')
  const status = await fetch(`${again.edgeUrl}/sales/demo/queue/status`, {
    headers: { authorization: `Bearer ${place.queue_token}` },
  })
  expect(await status.json()).toMatchObject({ number: place.number })
  const newcomer = await fetch(`${again.edgeUrl}/sales/demo/queue`, { method: 'POST' })
  expect(((await newcomer.json()) as { number: number }).number).toBeGreaterThan(place.number)
  expect((await again.end('SIGTERM')).status).toBe(0)
})

test('stops everything and names the server when one dies', async () => {
  // Many containers set it.
  const run = start({ env: { NODE_ENV: 'production' } })
  await run.up()
  const redis = run.servers().find((file) => file.endsWith('redis.pid')) ?? ''
  process.kill(readPidFile(redis)?.pid ?? 0, 'SIGKILL')
  const ended = await run.finished()
  expect(ended.status).toBe(1)
  expect(ended.err).toMatch(/^Redis ended unexpectedly \(SIGKILL\)\./)
  expect(await remains(ended)).toEqual([])
})

test("ignores the shell's settings for other servers, the machine and a proxy", async () => {
  const run = start({
    args: ['--temporary'],
    env: {
      ...{ PGSSLMODE: 'require', PGSSL: 'require', PGTARGETSESSIONATTRS: 'any', PGOPTIONS: '--nonsense=1' },
      ...{ HOST: 'x86_64-conda-linux-gnu', NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.0.0.1:1' },
    },
  })
  await run.up()
  expect((await run.end('SIGINT')).status).toBe(0)
})

test('accepts a Redis Cluster that already runs', async () => {
  const cluster = await startRedisCluster()
  try {
    const run = start({ args: ['--temporary', '--no-demo'], env: { REDIS_URL: cluster.url } })
    await run.up()
    expect(await (await fetch(`${run.originUrl}/readyz`)).json()).toEqual({ ledger: true, gate: true })
    expect((await run.end('SIGINT')).status).toBe(0)
  } finally {
    await cluster.stop()
  }
})

test('after SIGKILL, the next start on the same folder and ports stops the servers that were left', async () => {
  const folder = ownFolder()
  const killed = start({ args: ['--data', folder] })
  await killed.up()
  const ended = await killed.end('SIGKILL')
  expect(ended.servers).toHaveLength(4)
  const env = { PORT: String(killed.port), EDGE_PORT: String(killed.edgePort) }
  const next = start({ args: ['--data', folder], env })
  await next.up()
  expect(await remains(ended)).toEqual([])
  expect((await next.end('SIGINT')).status).toBe(0)
})

test('Ctrl-C during the start stops what has started', async () => {
  const run = start()
  await until(() => run.servers().some((file) => file.endsWith('postgres.pid')), UP_WITHIN_MS)
  const ended = await run.end('SIGINT')
  expect(ended.status).toBe(0)
  expect(ended.err).toBe('')
  expect(await remains(ended)).toEqual([])
})

// -- Running it ------------------------------------------------------------------------------------------------------

interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
  /** Copies of the pid files of its servers, as last seen. */
  readonly servers: readonly string[]
  readonly temporaryRoot: string
}

interface Running {
  readonly edgeUrl: string
  readonly originUrl: string
  readonly port: number
  readonly edgePort: number
  out(): string
  up(): Promise<void>
  /** Copies of the pid files of its servers. */
  servers(): readonly string[]
  end(signal: NodeJS.Signals): Promise<Ended>
  finished(): Promise<Ended>
}

const folders: string[] = []
const children: ChildProcess[] = []

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGTERM')
    await new Promise((resolve) => child.once('close', resolve))
  }
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

let nextPort = 0

/** Runs it with free ports and a temporary folder of its own, as `npm start` does without a terminal. */
function start(options: { args?: string[]; env?: Record<string, string> } = {}): Running {
  const temporaryRoot = ownFolder()
  // Below the ephemeral range, and below the ports that other test files take.
  const port = 10_000 + ((process.pid * 16 + nextPort++ * 2) % 5_000)
  const edgePort = port + 1
  const args = options.args ?? ['--temporary']
  const child = spawn(process.execPath, [START, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: temporaryRoot,
      TMPDIR: temporaryRoot,
      PORT: String(port),
      EDGE_PORT: String(edgePort),
      ...options.env,
    },
  })
  children.push(child)
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  const copies = ownFolder()
  const dataDir = args.includes('--data') ? args[args.indexOf('--data') + 1] : undefined
  const servers = () => {
    const found = globSync(dataDir === undefined ? 'flash-sale-*/*/*.pid' : '*/*.pid', {
      cwd: dataDir ?? temporaryRoot,
    })
    for (const file of found) copyFileSync(join(dataDir ?? temporaryRoot, file), join(copies, basename(file)))
    return readdirSync(copies).map((file) => join(copies, file))
  }
  const finished = async (): Promise<Ended> => {
    const status = await closed
    return { status, out, err, servers: servers(), temporaryRoot }
  }
  return {
    port,
    edgePort,
    edgeUrl: `http://127.0.0.1:${edgePort}`,
    originUrl: `http://127.0.0.1:${port}`,
    out: () => out,
    servers,
    async up() {
      await until(() => out.includes('Sale page') || child.exitCode !== null, UP_WITHIN_MS)
      if (child.exitCode !== null) throw new Error(`It did not start: ${err}${out}`)
      servers()
    },
    end(signal) {
      servers()
      child.kill(signal)
      return finished()
    },
    finished,
  }
}

/** Runs the rehearsal that was printed until its sale exists, then interrupts it; returns its output. */
async function begun(command: string): Promise<string> {
  const child = spawn('sh', ['-c', `exec ${command}`], {
    cwd: ROOT,
    detached: true,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
  })
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const closed = new Promise((resolve) => child.once('close', resolve))
  await until(() => output.includes('sale rehearsal-') || child.exitCode !== null, UP_WITHIN_MS)
  if (child.exitCode === null) process.kill(-(child.pid ?? 0), 'SIGINT')
  await closed
  return output
}

async function demo(run: Running, folder: string) {
  const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim()
  const response = await fetch(`${run.originUrl}/admin/sales/demo`, {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(response.status).toBe(200)
  const state = (await response.json()) as { opens_at: string; products: { product_id: string }[] }
  return { token, opens_at: state.opens_at, state }
}

/** What is left of a run after a while: servers that still run, and files in its temporary folder. */
async function remains(run: Ended): Promise<string[]> {
  const look = () => [
    ...run.servers.filter((file) => readPidFile(file)?.runs).map((file) => basename(file)),
    ...readdirSync(run.temporaryRoot).filter((file) => file.startsWith('flash-sale-')),
  ]
  await until(() => look().length === 0, GONE_WITHIN_MS).catch(() => {})
  return look()
}

async function occupiedPort(): Promise<{ port: number; server: Server }> {
  const port = await freePort()
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return { port, server }
}

async function until(true_: () => boolean, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!true_()) {
    if (performance.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${true_}`)
    await sleep(50)
  }
}
