/** `npm start` as a user sees it: its output, its failures, and that it leaves nothing behind. */
import { generateKeyPairSync } from 'node:crypto'
import { copyFileSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { readPidFile, stopLeftovers } from '../dev/lib/leftovers.ts'
import type { QueueAnswer } from '../shared/api/public.ts'
import { admin } from './lib/operator.ts'
import { visitorsOf } from './lib/visitor.ts'
import { POLL_WITHIN_MS, TEST_WITHIN_MS } from './run/patience.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const START = join(ROOT, 'dev/start.ts')
/** A whole start may take as long as a test. */
const UP = { timeout: TEST_WITHIN_MS }

test.each([
  ['PORT', '70000', /^PORT must be a port from 1 to 65535, not "70000"/],
  ['EDGE_PORT', 'http', /^EDGE_PORT must be a port/],
  ['ADMIN_TOKEN', 'hunter2 and more', /^ADMIN_TOKEN may hold/],
  ['REDIS_URL', 'redis://:hunter2@127.0.0.1:1', /^Could not start: .*\(127\.0\.0\.1:1\) does not serve: /],
])('a start with %s=%s says in one line why it fails, and leaves nothing', async (name, value, message) => {
  const run = await start({ env: { [name]: value } }).finished()
  expect(run.status).toBeGreaterThan(0)
  expect(run.err).toMatch(message)
  expect(run.err).toMatch(/^.*\n$/)
  expect(run.err + run.out).not.toContain('hunter2')
  expect(await remains(run)).toEqual([])
})

/** Variables of the shell that are meant for other servers, the machine, containers and a proxy. */
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

const newEd25519 = () => {
  const key = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  return JSON.stringify({ keys: [{ ...key, kid: 'own' }] })
}

describe('on one data folder, start after start', () => {
  const folder = join(ownFolder(), 'data with spaces')
  const args = ['--data', folder]
  const visitors = (run: Running) => visitorsOf(run.edgeUrl, 'demo')
  let run: Running
  let before: Awaited<ReturnType<typeof demo>>
  let place: QueueAnswer

  test('it serves demo sales, whatever the shell has set', async () => {
    run = start({ args, env: NOT_OURS })
    await run.up()
    expect(run.out()).not.toContain('\x1b')
    expect(await served(`${run.edgeUrl}/sales/demo`)).toContain('<html')
    // Cookies belong to one host, so all parts are at the same.
    expect(new Set(Array.from(run.out().matchAll(/http:\/\/([^:/]+)/g), ([, host]) => host))).toEqual(
      new Set(['127.0.0.1']),
    )
    const signInUrl = /Sign in +(\S+)/.exec(run.out())?.[1] ?? ''
    expect(await served(`${run.edgeUrl}/sales/members`)).toContain(`href="${signInUrl}?return=`)
    expect((await fetch(signInUrl)).status).toBe(200)
    expect(await served(`${run.edgeUrl}/sales/soon`)).toContain('data-at="pre_queue_opens_at_ms"')
    expect(await served(/Mails +(\S+)/.exec(run.out())?.[1] ?? '')).toContain('No mail yet')
    before = await demo(run, folder)
    expect(before.products).toMatchObject([
      { product_id: 'poster', images: [{}] },
      { product_id: 'vinyl', images: [{}] },
    ])
    expect(run.out()).not.toContain(before.token)
    place = (await visitors(run).join()).body
    for (const secret of ['secrets.json', 'admin-token']) expect(statSync(join(folder, secret)).mode & 0o077).toBe(0)
  })

  test('the crowd that it prints comes, and a second start on its folder is refused', async () => {
    const crowd = /send a crowd +(.*)/.exec(run.out())?.[1] ?? ''
    expect(await begun(crowd)).toMatch(/sale rehearsal-/)
    const second = await start({ args }).finished()
    expect(second.err).toMatch(/^Could not start: Process \d+ is already running a system on /)
  })

  test('Ctrl-C stops all of it', async () => {
    const stopped = await run.end('SIGINT')
    expect([stopped.status, stopped.err]).toEqual([0, ''])
    expect(stopped.out).toMatch(/Stopped\.\n$/)
    expect(await remains(stopped)).toEqual([])
    expect(globSync('start.*', { cwd: folder })).toEqual([])
    for (const url of [run.originUrl, run.edgeUrl]) await expect(fetch(url)).rejects.toThrow('fetch failed')
  })

  test('the next start goes on with the same sale and line', async () => {
    run = start({ args, env: { ADMIN_TOKEN: 'of-their-own' } })
    await run.up()
    const { opens_at } = before
    expect(await demo(run, folder)).toMatchObject({ opens_at, token: 'of-their-own' })
    const { status, join } = visitors(run)
    await expect.poll(async () => (await status(place.queue_token ?? '')).number).toBe(place.number)
    expect((await join()).body.number).toBeGreaterThan(place.number)
  })

  test('the start after a kill stops what was left', async () => {
    const left = await run.end('SIGKILL')
    expect(left.servers).toHaveLength(4)
    const env = { PORT: String(run.port), EDGE_PORT: String(run.edgePort) }
    run = start({ args: [...args, '--no-demo'], env: { ...env, ADMISSION_KEYS: newEd25519() } })
    await run.up()
    const { keys } = (await (await fetch(`http://127.0.0.1:${env.EDGE_PORT}/.well-known/jwks.json`)).json()) as {
      keys: object[]
    }
    expect(keys).toMatchObject([{ kty: 'OKP', kid: 'own' }])
    expect(await remains(left)).toEqual([])
  })

  test('it ends, and says why, when one of its servers dies', async () => {
    const redis = run.servers().find((file) => file.endsWith('redis.pid')) ?? ''
    process.kill(readPidFile(redis)?.pid ?? 0, 'SIGKILL')
    const ended = await run.finished()
    expect(ended.status).toBe(1)
    expect(ended.err).toMatch(/^Redis ended unexpectedly \(SIGKILL\)\./)
    expect(await remains(ended)).toEqual([])
  })
})

test('a signal during the start stops what has started', async () => {
  const run = start()
  await expect.poll(() => run.servers().some((file) => file.endsWith('postgres.pid'))).toBe(true)
  const ended = await run.end('SIGTERM')
  expect([ended.status, ended.err]).toEqual([0, ''])
  expect(await remains(ended)).toEqual([])
})

// -- Running it -----------------------------------------------------------------------------------------------------

type Running = ReturnType<typeof start>
type Ended = Awaited<ReturnType<Running['finished']>>

const folders: string[] = []
const ends: (() => PromiseLike<unknown>)[] = []
let nextPort = 0

afterAll(async () => {
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

/** Runs the command with free ports and its own temporary folder, as `npm start` does without a terminal. */
function start({ args = ['--temporary'], env = {} }: { args?: string[]; env?: Record<string, string> } = {}) {
  const temporaryRoot = ownFolder()
  // The ports are below the ephemeral range and those that other test files take, and above the last one that
  // browsers refuse.
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
        // The process of the file has just ended.
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

/** Runs the printed command for a rehearsal until its sale exists, interrupts it, and returns its output. */
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

/** Reads the page at an address. An edge that has just started may at first request a retry. */
async function served(url: string): Promise<string> {
  const page = () => fetch(url, { headers: { accept: 'text/html' } })
  await expect.poll(async () => (await page()).status).toBe(200)
  return (await page()).text()
}

async function demo(run: Running, folder: string) {
  const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim()
  const sale = await admin<SaleState>({ ...run, adminToken: token }, 'GET', '/sales/demo')
  return { ...sale, token }
}

interface SaleState {
  readonly opens_at: string
  readonly products: readonly object[]
}

/** The remains of a run after a while: servers that still run, and files in its temporary folder. */
async function remains(run: Ended): Promise<string[]> {
  const look = () => [
    ...run.servers.filter((file) => readPidFile(file)?.runs).map((file) => basename(file)),
    ...readdirSync(run.temporaryRoot).filter((file) => file.startsWith('flash-sale-')),
  ]
  await vi.waitUntil(() => look().length === 0, POLL_WITHIN_MS).catch(() => {})
  return look()
}
