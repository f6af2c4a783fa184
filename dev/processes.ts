/**
 * Servers as child processes. Each runs in a process group of its own, so that Ctrl-C in the terminal reaches only us and we
 * stop them in order. Each has a pid file beside its log. If this process is killed by SIGKILL, the next start on the same
 * folder finds the pid files and stops what they name.
 */
import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import getPort, { portNumbers } from 'get-port'

/** Something is wrong with the machine or the settings; the message is one line for the person at the terminal. */
export class LocalError extends Error {
  override readonly name = 'LocalError'
}

export const LOOPBACK = '127.0.0.1'
/** How long a server may take to stop before it is killed; the origin allows itself ten seconds. */
const STOP_WITHIN_MS = 15_000
/** How long a server may take to answer for the first time; a cold disk or a busy machine needs seconds. */
export const READY_WITHIN_MS = 30_000
const PROBE_EVERY_MS = 25
/** How often and after what pause a start is repeated, for as long as a crashed server's processes hold its data. */
const MAX_START_ATTEMPTS = 20
const START_AGAIN_AFTER_MS = 250
const LOG_TAIL_BYTES = 8 * 1024

// -- One process -----------------------------------------------------------------------------------------------------

export interface ChildOptions {
  /** Shown to people: "Postgres", "the origin". */
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  /** Output is appended to it. If its name ends in `.log`, the pid file stands beside it. */
  readonly logFile: string
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  readonly uid?: number | undefined
  readonly gid?: number | undefined
  /** Stops the process in good order; default SIGTERM. */
  readonly stopSignal?: 'SIGTERM' | 'SIGINT'
}

export interface Child {
  readonly name: string
  readonly pid: number
  /** Resolves when the process has ended, with how it ended ("exit code 1", "SIGKILL"). Never rejects. */
  readonly ended: Promise<string>
  running(): boolean
  /** The last lines that it logged since its start. */
  logTail(): string
  /** Stops it with its stop signal, and kills it if it has not ended within a bound. */
  stop(): Promise<void>
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>
}

/** The running children, in the order of their start. */
const running = new Set<Child>()
/** Files and folders to remove at the end. */
const temporaries = new Set<string>()
let ending = false

// Whatever ends this process, except a signal that nobody handles, leaves nothing behind.
process.on('exit', killEverything)

/** Stops every child, the last first, and removes all temporary files. No child can be started after it. */
export async function stopEverything(): Promise<void> {
  ending = true
  for (const child of [...running].reverse()) await child.stop()
  killEverything()
}

/** Kills every child at once. */
export function killEverything(): void {
  ending = true
  for (const child of running) void child.kill()
  for (const path of temporaries) remove(path)
}

/** Starts a process. Rejects only when the command cannot be run at all. */
export async function startChild(options: ChildOptions): Promise<Child> {
  if (ending) throw new LocalError(`${options.name} was not started: everything is being stopped.`)
  const { name, logFile, stopSignal = 'SIGTERM' } = options
  mkdirSync(dirname(logFile), { recursive: true })
  const log = openSync(logFile, 'a+', 0o600)
  const logStart = fstatSync(log).size
  // Execa's type knows the smallest file descriptors only.
  const output = log as 3
  const subprocess = execa(options.command, options.args, {
    detached: true,
    stdin: 'ignore',
    stdout: output,
    stderr: output,
    env: options.env ?? process.env,
    extendEnv: false,
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    ...(options.uid !== undefined && { uid: options.uid }),
    ...(options.gid !== undefined && { gid: options.gid }),
    buffer: false,
    reject: false,
    killSignal: stopSignal,
    forceKillAfterDelay: STOP_WITHIN_MS,
  })
  closeSync(log)
  const { pid } = subprocess
  if (pid === undefined) {
    const { originalMessage } = await subprocess
    throw new LocalError(`${name} cannot be started: ${originalMessage}`)
  }
  const pidFile = /\.log$/.test(logFile) ? logFile.replace(/log$/, 'pid') : undefined
  if (pidFile !== undefined) writePidFile(pidFile, pid, stopSignal)
  const ended = subprocess.then(({ signal, exitCode }) => {
    running.delete(child)
    if (pidFile !== undefined) rmSync(pidFile, { force: true })
    return signal ?? `exit code ${exitCode}`
  })
  const child: Child = {
    name,
    pid,
    ended,
    running: () => running.has(child),
    logTail: () => tailOf(logFile, logStart),
    async stop() {
      if (!running.has(child)) return
      subprocess.kill()
      if ((await ended) === 'SIGKILL') killGroup(pid)
    },
    async kill() {
      if (!running.has(child)) return
      killGroup(pid)
      await ended
    },
  }
  running.add(child)
  return child
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

/** Runs a program to its end. Fails with the most useful line of its log when its exit code is not 0. */
export async function runToEnd(options: ChildOptions, withinMs?: number): Promise<void> {
  const child = await startChild(options)
  const timedOut = sleep(withinMs ?? 0, `not within ${withinMs} ms`, { ref: false })
  const how = await (withinMs === undefined ? child.ended : Promise.race([child.ended, timedOut]))
  await child.stop()
  if (how !== 'exit code 0') throw new LocalError(`${options.name} failed (${how})${quote(child.logTail())}`)
}

/**
 * Waits until a server answers. Fails with a line of its log when it ends before that, or after a bound.
 * `probe` returns true when the server serves; false or a rejection means not yet, a LocalError that it never will.
 */
export async function untilReady(child: Child, probe: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS
  while (true) {
    const ready = await probe().catch(async (error: unknown) => {
      if (!(error instanceof LocalError)) return false
      await child.kill()
      throw error
    })
    if (ready) return
    if (!child.running())
      throw new LocalError(`${child.name} ended at once (${await child.ended})${quote(child.logTail())}`)
    if (performance.now() > deadline) {
      await child.kill()
      const seconds = READY_WITHIN_MS / 1000
      throw new LocalError(`${child.name} did not answer within ${seconds} s${quote(child.logTail())}`)
    }
    await sleep(PROBE_EVERY_MS)
  }
}

/** The most useful line of a log: the last that names an error, else the last. */
function quote(log: string): string {
  const lines = log
    .split('\n')
    .map((line) => messageOf(line.trim()))
    .filter(Boolean)
  const useful =
    lines.findLast((line) => /\b(FATAL|Uncaught|cannot start|\w*Error\b.*:)/.test(line)) ??
    lines.findLast((line) => /^E:|error|fatal|panic|refus|cannot|can't|failed/i.test(line)) ??
    lines.at(-1)
  return useful === undefined ? '' : `: ${useful.slice(0, 500)}`
}

/** The message of a line of structured log; any other line as it is. */
function messageOf(line: string): string {
  try {
    const { msg } = JSON.parse(line) as { msg?: unknown }
    return typeof msg === 'string' ? msg : line
  } catch {
    return line
  }
}

function tailOf(file: string, start: number): string {
  const log = openSync(file, 'r')
  try {
    const from = Math.max(start, fstatSync(log).size - LOG_TAIL_BYTES)
    const buffer = Buffer.alloc(LOG_TAIL_BYTES)
    return buffer.toString('utf8', 0, readSync(log, buffer, 0, LOG_TAIL_BYTES, from))
  } finally {
    closeSync(log)
  }
}

// -- A server that can go away and come back -------------------------------------------------------------------------

export interface ServerOptions {
  readonly url: string
  readonly port: number
  /** The process to start; called at each start, always for the same port and data. */
  readonly process: () => ChildOptions
  /** Whether it serves, as in `untilReady`. */
  readonly probe: (child: Child) => Promise<boolean>
  /** Whether a start that failed with this log is worth repeating, because the obstacle goes away by itself. */
  readonly startAgain?: (log: string) => boolean
  /** Called after `stop`: removes data that nobody needs any more. */
  readonly remove?: () => void
}

/** A server on a port and data of its own, which can be stopped, killed and started again. */
export class Server {
  readonly url: string
  readonly port: number
  /** Resolves when the process first ends without having been asked to, with how it ended. */
  readonly failed: Promise<string>
  readonly #options: ServerOptions
  readonly #fail: (how: string) => void
  #child: Child | undefined
  #asked = false

  constructor(options: ServerOptions) {
    this.#options = options
    this.url = options.url
    this.port = options.port
    const { promise, resolve } = Promise.withResolvers<string>()
    this.failed = promise
    this.#fail = resolve
  }

  get running(): boolean {
    return this.#child?.running() ?? false
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** The last lines that it logged since its last start. */
  logTail(): string {
    return this.#child?.logTail() ?? ''
  }

  /** Starts it and waits until it serves. */
  async start(): Promise<this> {
    const { process, probe, startAgain = () => false } = this.#options
    this.#asked = false
    for (let attempt = 1; ; attempt++) {
      const child = await startChild(process())
      this.#child = child
      try {
        await untilReady(child, () => probe(child))
        void child.ended.then((how) => {
          if (this.#child === child && !this.#asked) this.#fail(how)
        })
        return this
      } catch (error) {
        if (this.#asked || attempt === MAX_START_ATTEMPTS || !startAgain(child.logTail())) throw error
      }
      await sleep(START_AGAIN_AFTER_MS)
    }
  }

  /** Stops it for good, even while it starts. */
  async stop(): Promise<void> {
    this.#asked = true
    await this.#child?.stop()
    this.#options.remove?.()
  }

  /** Ends it as a crash would; it stays away until `start` or `restart`. */
  async kill(): Promise<void> {
    this.#asked = true
    await this.#child?.kill()
  }

  /** Stops it, if it runs, and starts it again on the same port and data. */
  async restart(): Promise<void> {
    this.#asked = true
    await this.#child?.stop()
    await this.start()
  }
}

// -- Ports -----------------------------------------------------------------------------------------------------------

/** Below the range from which the system gives ports to connections, which might take one before its server listens. */
const OWN_PORTS = [15_000, 31_900] as const
const PORTS_TRIED = 100
/** Ports meant for a server of ours, whether it listens yet or not. */
const claimed = new Set<number>()

/** Keeps a port for whoever asked for it, so that `freePort` gives it to nobody else. */
export function claimPort(port: number): void {
  claimed.add(port)
}

/** A free port, never the same twice. It starts at a random one, so that processes side by side seldom meet. */
export async function freePort(): Promise<number> {
  const first = randomInt(...OWN_PORTS)
  const port = await getPort({ port: portNumbers(first, first + PORTS_TRIED), exclude: claimed })
  claimPort(port)
  return port
}

/** True when something on this machine listens on the port. */
export function portTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, LOOPBACK)
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}

// -- Pid files -------------------------------------------------------------------------------------------------------

interface PidFile {
  readonly pid: number
  /** When the process began, so that a later one with the same number is not taken for it. */
  readonly startedAt: string
  /** Another container may share the folder, but not the numbers. */
  readonly host: string
  readonly stopSignal: NodeJS.Signals
}

export function writePidFile(file: string, pid: number, stopSignal: NodeJS.Signals = 'SIGTERM'): void {
  const content: PidFile = { pid, startedAt: startedAt(pid), host: hostname(), stopSignal }
  writeFileSync(file, `${JSON.stringify(content)}\n`)
}

/** What a pid file of this machine names, and whether that process still runs. */
export function readPidFile(file: string): (PidFile & { readonly runs: boolean }) | undefined {
  try {
    const content = JSON.parse(readFileSync(file, 'utf8')) as PidFile
    if (content.host !== hostname() || content.startedAt === '') return undefined
    return { ...content, runs: startedAt(content.pid) === content.startedAt }
  } catch {
    return undefined
  }
}

/** Empty when no such process runs. */
function startedAt(pid: number): string {
  try {
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    // The program's name, which comes second, may hold spaces; it ends with the last parenthesis.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
    return (fields?.[0] !== 'Z' && fields?.[19]) || ''
  } catch {
    return ''
  }
}

/** Stops what an earlier start, killed by SIGKILL, has left running on a data folder. */
export async function stopLeftovers(folder: string): Promise<void> {
  const files = globSync('{,*/}*.pid', { cwd: folder }).map((file) => join(folder, file))
  const runs = (file: string) => readPidFile(file)?.runs
  await Promise.all(
    files.map(async (file) => {
      const { pid, stopSignal } = readPidFile(file) ?? {}
      if (pid === process.pid) return
      if (pid !== undefined && runs(file)) {
        process.kill(pid, stopSignal)
        const deadline = performance.now() + STOP_WITHIN_MS
        while (runs(file) && performance.now() < deadline) await sleep(PROBE_EVERY_MS)
        if (runs(file)) killGroup(pid)
      }
      rmSync(file, { force: true })
    }),
  )
}

// -- Temporary files and folders -------------------------------------------------------------------------------------

export interface Temporary {
  readonly path: string
  remove(): void
}

const OWNER_FILE = 'owner.pid'
let swept = false

/** A folder that is removed at the end. If this process is killed by SIGKILL, the next one that makes such a folder removes it. */
export function temporaryFolder(purpose: string): Temporary {
  if (!swept) void sweepTemporaries().catch(() => {})
  swept = true
  try {
    const path = mkdtempSync(join(tmpdir(), `flash-sale-${purpose}-`))
    writePidFile(join(path, OWNER_FILE), process.pid)
    return removedAtEnd(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new LocalError(`Cannot make a folder in ${tmpdir()} (${code}): set TMPDIR to a writable one.`)
  }
}

/** Removes the temporary folders of processes that were killed, and stops their servers. */
async function sweepTemporaries(): Promise<void> {
  for (const file of globSync(`flash-sale-*/${OWNER_FILE}`, { cwd: tmpdir() })) {
    const folder = join(tmpdir(), dirname(file))
    if (readPidFile(join(folder, OWNER_FILE))?.runs !== false) continue
    await stopLeftovers(folder)
    remove(folder)
  }
}

/** The folder where data stays, or a temporary one where nobody named one. */
export function folderFor(path: string | undefined, purpose: string): Temporary {
  if (path === undefined) return temporaryFolder(purpose)
  mkdirSync(path, { recursive: true })
  return { path: resolve(path), remove() {} }
}

/** Sees that a file or folder is removed at the end, whatever ends this process. */
export function removedAtEnd(path: string): Temporary {
  temporaries.add(path)
  return { path, remove: () => remove(path) }
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 3 })
  temporaries.delete(path)
}
