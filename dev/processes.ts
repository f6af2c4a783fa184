/**
 * Servers as child processes: started in a process group of their own (so that Ctrl-C in the terminal reaches us alone,
 * and we end them in order), logging to a file, stopped within a bound, and never left behind. Should this process be
 * killed, its warden (warden.sh) sees the pipe close and ends what is left.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** Something is wrong with the machine or the settings; the message is one line for the person at the terminal. */
export class LocalError extends Error {
  override readonly name = 'LocalError'
}

export const LOOPBACK = '127.0.0.1'
/** npm passes Ctrl-C on to us, who got it from the terminal as well: two signals this close together are one. */
export const SAME_KEYSTROKE_MS = 500
/** Below the range from which the system itself gives ports to connections, which may take one between look and use. */
const OWN_PORTS = [15_000, 32_000] as const
const MAX_PORTS_TRIED = 50

/** How long a server may take to end in good order before it is killed; the origin allows itself ten seconds. */
const STOP_WITHIN_MS = 15_000
/** How long a server may take to answer for the first time; a cold disk or a busy machine needs seconds. */
export const READY_WITHIN_MS = 30_000
const PROBE_EVERY_MS = 25
/** A log beyond this is set aside as `.old` at the next start, so that logs never fill a disk. */
const MAX_LOG_BYTES = 16 * 1024 * 1024
const LAST_WORDS_BYTES = 8 * 1024

export interface ChildOptions {
  /** Shown to people: "Postgres", "the origin". */
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly logFile: string
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  readonly uid?: number | undefined
  readonly gid?: number | undefined
  /** Written to the child's standard input, which is then closed; secrets travel this way, not in the arguments. */
  readonly input?: string
  /** Ends the server in good order; default SIGTERM. */
  readonly stopSignal?: 'SIGTERM' | 'SIGINT'
}

export interface Child {
  readonly name: string
  readonly pid: number
  /** Settles when the process has ended, with how it ended ("exit code 1", "SIGKILL"). Never rejects. */
  readonly ended: Promise<string>
  running(): boolean
  /** The last lines it logged since it was started. */
  lastWords(): string
  /** Asks it to end, and kills it if it has not within a bound. */
  stop(): Promise<void>
  /** Ends it at once, as a crash would; it can be started again on the same data and port. */
  kill(): Promise<void>
}

/** Those that run, in the order in which they were started. */
const running = new Set<Child>()
/** Files and folders to remove at the end. */
const temporaries = new Set<string>()
let ending = false

/** A child that listens; data in a temporary folder go when it is stopped, and stay when it is killed. */
export interface LocalServer extends Child {
  readonly url: string
  readonly port: number
}

export function localServer(
  child: Child,
  { url, port }: { url: string; port: number },
  temporary?: Temporary,
): LocalServer {
  return {
    ...child,
    url,
    port,
    async stop() {
      await child.stop()
      temporary?.remove()
    },
  }
}

/** Ends every server this process has started, the last first, whatever else is under way; no more start after it. */
export async function stopEverything(): Promise<void> {
  ending = true
  for (const child of [...running].reverse()) await child.stop()
  for (const path of temporaries) remove(path)
}

/** Ends all at once, for those who will not wait. */
export function killEverything(): void {
  ending = true
  for (const child of running) void child.kill()
  for (const path of temporaries) remove(path)
}

/** Starts a server. Rejects only when the command cannot be run at all. */
export async function startChild(options: ChildOptions): Promise<Child> {
  if (ending) throw new LocalError(`${options.name} was not started: everything is being stopped.`)
  const { name, command, args, logFile, stopSignal = 'SIGTERM' } = options
  const log = openLog(logFile)
  const logStart = fstatSync(log).size
  let process_: ChildProcess
  try {
    process_ = spawn(command, args, {
      detached: true,
      stdio: [options.input === undefined ? 'ignore' : 'pipe', log, log],
      env: options.env ?? process.env,
      cwd: options.cwd,
      uid: options.uid,
      gid: options.gid,
    })
  } finally {
    closeSync(log)
  }
  const { promise: ended, resolve: end } = Promise.withResolvers<string>()
  process_.once('exit', (code, signal) => end(signal ?? `exit code ${code}`))
  await new Promise<void>((resolve, reject) => {
    process_.once('spawn', resolve)
    process_.once('error', (error) => reject(new LocalError(`${name} cannot be started: ${error.message}`)))
  })
  process_.on('error', () => {})
  const pid = process_.pid ?? 0
  warden.tell(`child ${pid} ${stopSignal.slice(3)}`)
  void ended.then(() => {
    running.delete(child)
    warden.tell(`gone ${pid}`)
  })
  if (options.input !== undefined) {
    process_.stdin?.on('error', () => {})
    process_.stdin?.end(options.input)
  }

  const killGroup = () => {
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // It has ended meanwhile.
    }
  }
  const child: Child = {
    name,
    pid,
    ended,
    running: () => running.has(child),
    lastWords: () => readFrom(logFile, logStart),
    async stop() {
      if (!running.has(child)) return
      process_.kill(stopSignal)
      const inTime = await Promise.race([
        ended.then(() => true),
        sleep(STOP_WITHIN_MS, false, { ref: false }),
      ])
      if (!inTime) killGroup()
      await ended
    },
    async kill() {
      if (!running.has(child)) return
      killGroup()
      await ended
    },
  }
  running.add(child)
  return child
}

/**
 * Waits until a server answers. Fails with what it last logged when it ends before that, and after a bound.
 * `probe` answers true when the server serves; false or a rejection means not yet, a LocalError that it never will.
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
    if (!child.running()) {
      throw new LocalError(`${child.name} ended at once (${await child.ended})${quote(child.lastWords())}`)
    }
    if (performance.now() > deadline) {
      await child.kill()
      throw new LocalError(
        `${child.name} did not answer within ${READY_WITHIN_MS / 1000} s${quote(child.lastWords())}`,
      )
    }
    await sleep(PROBE_EVERY_MS)
  }
}

/** The line of a log that says most: the last that names an error, else the last. */
function quote(log: string): string {
  const lines = log
    .split('\n')
    .map((line) => messageOf(line.trim()))
    .filter(Boolean)
  const telling =
    lines.findLast((line) => /\b(FATAL|Uncaught|cannot start|\w*Error\b.*:)/.test(line)) ??
    lines.findLast((line) => /error|fatal|panic|refus|cannot|can't|failed/i.test(line)) ??
    lines.at(-1)
  return telling === undefined ? '' : `: ${telling.slice(0, 500)}`
}

/** The message of a line of structured log; any other line as it is. */
function messageOf(line: string): string {
  if (!line.startsWith('{')) return line
  try {
    const { msg } = JSON.parse(line) as { msg?: unknown }
    return typeof msg === 'string' ? msg : line
  } catch {
    return line
  }
}

function openLog(file: string): number {
  mkdirSync(dirname(file), { recursive: true })
  if (existsSync(file) && statSync(file).size > MAX_LOG_BYTES) renameSync(file, `${file}.old`)
  return openSync(file, 'a', 0o600)
}

function readFrom(file: string, start: number): string {
  try {
    const fd = openSync(file, 'r')
    try {
      const from = Math.max(start, fstatSync(fd).size - LAST_WORDS_BYTES)
      const buffer = Buffer.alloc(LAST_WORDS_BYTES)
      return buffer.toString('utf8', 0, readSync(fd, buffer, 0, LAST_WORDS_BYTES, from))
    } finally {
      closeSync(fd)
    }
  } catch {
    return ''
  }
}

export interface Temporary {
  readonly path: string
  remove(): void
}

/** A folder of our own that is removed at the end, whatever the end is. */
export function temporaryFolder(purpose: string): Temporary {
  try {
    return temporary(mkdtempSync(join(tmpdir(), `flash-sale-${purpose}-`)))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new LocalError(
      `No folder can be made in ${tmpdir()} (${code}): set TMPDIR to one that can be written to.`,
    )
  }
}

/** A file that is removed likewise; undefined where there is one already, which is somebody else's. */
export function temporaryFile(path: string, text: string, mode: number): Temporary | undefined {
  try {
    writeFileSync(path, text, { mode, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined
    throw error
  }
  return temporary(path)
}

function temporary(path: string): Temporary {
  warden.tell(`temporary ${path}`)
  temporaries.add(path)
  return { path, remove: () => remove(path) }
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 3 })
  temporaries.delete(path)
  warden.tell(`kept ${path}`)
}

/** Ports that are meant for a server of ours, whether it listens yet or not. */
const claimed = new Set<number>()

/** Keeps a port for whom it was asked for, so that `freePort` gives it to nobody else. */
export function claimPort(port: number): void {
  claimed.add(port)
}

/**
 * A port that is free at this moment, never the same twice. Another process may still take it first; who can, should
 * then try another.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < MAX_PORTS_TRIED; attempt++) {
    const port = randomInt(...OWN_PORTS)
    if (claimed.has(port)) continue
    claimPort(port)
    if (!(await portTaken(port))) return port
  }
  throw new LocalError('No free port was found.')
}

/** True when something listens on the port, on loopback or on all interfaces. */
export async function portTaken(port: number): Promise<boolean> {
  // One after the other, since they exclude each other.
  for (const host of [LOOPBACK, '0.0.0.0', '::']) {
    const taken = await new Promise<boolean>((resolve) => {
      const server = createServer()
      server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'EADDRINUSE'))
      server.listen({ port, host, exclusive: true, ipv6Only: host === '::' }, () =>
        server.close(() => resolve(false)),
      )
    })
    if (taken) return true
  }
  return false
}

/** One warden for this process, started when there is first something to watch. */
const warden = {
  process: undefined as ChildProcess | undefined,
  tell(line: string) {
    this.process ??= this.start()
    this.process.stdin?.write(`${line}\n`)
  },
  start(): ChildProcess {
    const script = fileURLToPath(new URL('./warden.sh', import.meta.url))
    const child = spawn('/bin/sh', [script], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
    })
    child.on('error', () => {})
    child.stdin?.on('error', () => {})
    // It must not keep this process alive.
    child.unref()
    if (child.stdin && 'unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref()
    return child
  },
}
