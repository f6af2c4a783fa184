/** Runs `npm start` as a process with ports and folders of its own, and looks at what it prints and leaves behind. */
import { copyFileSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterAll, expect, vi } from 'vitest'
import { readPidFile, stopLeftovers } from '../../dev/lib/leftovers.ts'
import { POLL_WITHIN_MS, TEST_WITHIN_MS } from '../run/patience.ts'
import { admin } from './operator.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const START = join(ROOT, 'dev/start.ts')
/** A whole start takes twelve seconds of a processor, and may get a sixth of one. */
const UP = { timeout: 2 * TEST_WITHIN_MS }
/** The time limit of a test that starts the system, uses it and stops it. */
export const WHOLE_RUN = { timeout: 2 * UP.timeout }

export type Running = ReturnType<typeof start>
export type Ended = Awaited<ReturnType<Running['finished']>>

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

export function ownFolder(): string {
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
export function start({ args = ['--temporary'], env = {} }: { args?: string[]; env?: Record<string, string> } = {}) {
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
export async function begun(command: string): Promise<string | undefined> {
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
export async function served(url: string): Promise<string> {
  const page = () => fetch(url, { headers: { accept: 'text/html' } })
  await expect.poll(async () => (await page()).status).toBe(200)
  return (await page()).text()
}

export async function demo(run: Running, folder: string) {
  const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim()
  const sale = await admin<SaleState>({ ...run, adminToken: token }, 'GET', '/sales/demo')
  return { ...sale, token }
}

interface SaleState {
  readonly opens_at: string
  readonly products: readonly object[]
}

/** The remains of a run after a while: servers that still run, and files in its temporary folder. */
export async function remains(run: Ended): Promise<string[]> {
  const look = () => [
    ...run.servers.filter((file) => readPidFile(file)?.runs).map((file) => basename(file)),
    ...readdirSync(run.temporaryRoot).filter((file) => file.startsWith('flash-sale-')),
  ]
  await vi.waitUntil(() => look().length === 0, POLL_WITHIN_MS).catch(() => {})
  return look()
}
