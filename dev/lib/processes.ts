/**
 * Runs servers as child processes. Each has its own process group, so that Ctrl-C in the terminal reaches only this
 * process, which stops them in order. Each has a pid file next to its log, in case SIGKILL ends this process
 * (leftovers.ts).
 */
import { randomInt } from 'node:crypto'
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import getPort, { portNumbers } from 'get-port'
import { killGroup, LocalError, removeTemporaries, STOP_WITHIN_MS, writePidFile } from './leftovers.ts'
import { LOOPBACK } from './loopback.ts'

export { LocalError, temporaryFolder } from './leftovers.ts'
export { LOOPBACK }

/** A server may need this long for its first response, because a cold disk or a busy machine is slow. */
const READY_WITHIN_MS = 30_000
const PROBE_EVERY_MS = 25
/**
 * The number of start attempts and the pause between them, while the processes of a crashed server still hold its
 * data.
 */
const MAX_START_ATTEMPTS = 20
const START_AGAIN_AFTER_MS = 250

// -- One process ----------------------------------------------------------------------------------------------------

export interface ChildOptions {
  /** The name for people: "Postgres", "the origin". */
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  /** Output is appended to this file. If its name ends in `.log`, the pid file is next to it. */
  readonly logFile: string
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  readonly uid?: number
  readonly gid?: number
  /** The time limit in milliseconds; without it, the process may run forever. */
  readonly timeout?: number
  /** The signal that stops the process in order. */
  readonly killSignal?: 'SIGTERM' | 'SIGINT'
}

export interface Child {
  readonly name: string
  readonly pid: number
  /** Resolves when the process has ended, with the way it ended ("exit code 1", "SIGKILL"). Never rejects. */
  readonly ended: Promise<string>
  running(): boolean
  /** The output since the process started. */
  logTail(): string
  /** Stops the process with its stop signal, and kills it if it has not ended within a time limit. */
  stop(): Promise<void>
  /** Kills the process at once, like a crash. */
  kill(): Promise<void>
}

/** A device, such as /dev/full, may be read for ever. */
const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true

/** The running children in the order of their start. */
const running = new Set<Child>()
let ending = false

// However this process ends, except by an unhandled signal, it leaves nothing behind.
process.on('exit', killEverything)

/** Stops every child, the last first, and removes all temporary files. No child can be started afterwards. */
export async function stopEverything(): Promise<void> {
  ending = true
  for (const child of [...running].reverse()) await child.stop()
  killEverything()
}

/** Kills every child at once. */
export function killEverything(): void {
  ending = true
  for (const child of running) void child.kill()
  removeTemporaries()
}

/** Starts a process. Rejects only if the command cannot be run at all. */
export async function startChild(options: ChildOptions): Promise<Child> {
  if (ending) throw new LocalError(`${options.name} was not started: everything is being stopped.`)
  const { name, logFile, command, args, ...settings } = options
  mkdirSync(dirname(logFile), { recursive: true })
  const log = openSync(logFile, 'a', 0o600)
  const logStart = fstatSync(log).size
  // Execa's type accepts only the smallest file descriptors.
  const output = log as 3
  const subprocess = execa(command, args, {
    env: process.env,
    ...settings,
    extendEnv: false,
    detached: true,
    stdio: ['ignore', output, output],
    buffer: false,
    reject: false,
    forceKillAfterDelay: STOP_WITHIN_MS,
  })
  closeSync(log)
  const { pid } = subprocess
  if (pid === undefined) {
    const { originalMessage } = await subprocess
    throw new LocalError(`${name} cannot be started: ${originalMessage}`)
  }
  const pidFile = /\.log$/.test(logFile) ? logFile.replace(/log$/, 'pid') : undefined
  if (pidFile !== undefined) writePidFile(pidFile, pid)
  const ended = subprocess.then(({ signal, exitCode, timedOut }) => {
    running.delete(child)
    // The children of the process, such as those of initdb, might still write into a folder that is about to be
    // removed.
    killGroup(pid)
    if (pidFile !== undefined) rmSync(pidFile, { force: true })
    return timedOut ? `not within ${options.timeout} ms` : (signal ?? `exit code ${exitCode}`)
  })
  const child: Child = {
    name,
    pid,
    ended,
    running: () => running.has(child),
    logTail: () => (isFile(logFile) ? readFileSync(logFile).subarray(logStart).toString() : ''),
    async stop() {
      subprocess.kill()
      await ended
    },
    async kill() {
      if (running.has(child)) killGroup(pid)
      await ended
    },
  }
  running.add(child)
  return child
}

/** Runs a program until it ends. Fails with the most useful line of its log if its exit code is not 0. */
export async function runToEnd(options: ChildOptions): Promise<void> {
  const child = await startChild(options)
  const how = await child.ended
  if (how !== 'exit code 0') throw new LocalError(`${options.name} failed (${how})${quote(child.logTail())}`)
}

/**
 * Waits until a server responds. Fails with a line of its log if it ends before that, or after a time limit. `probe`
 * returns true when the server is ready; false or a rejection means not yet, and a LocalError means never.
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

/** The most useful line of a log: the last that names an error, otherwise the last. */
function quote(log: string): string {
  const lines = log.split('\n').map(messageOf).filter(Boolean)
  const useful =
    lines.findLast((line) => /\b(FATAL|Uncaught|cannot start|\w*Error\b.*:)/.test(line)) ??
    lines.findLast((line) => /^E:|error|fatal|panic|refus|cannot|can't|failed/i.test(line)) ??
    lines.at(-1)
  return useful === undefined ? '' : `: ${useful.slice(0, 500)}`
}

/** The message of a structured log line; any other line unchanged. */
function messageOf(line: string): string {
  const message = /^\{.*"msg":("(?:[^"\\]|\\.)*")/.exec(line)?.[1]
  return message === undefined ? line.trim() : String(JSON.parse(message))
}

// -- A server that can go away and come back ------------------------------------------------------------------------

export interface ServerOptions {
  readonly url: string
  readonly port: number
  /** Called at each start, always with the same port and data. */
  readonly process: () => ChildOptions
  /** Returns true when the server is ready, as in `untilReady`. */
  readonly probe: (child: Child) => Promise<boolean>
  /** A start whose log matches this pattern is repeated, because the obstacle disappears by itself. */
  readonly startAgain?: RegExp
  /** Called after `stop` to remove data that are no longer needed. */
  readonly remove?: () => void
}

/** A server with its own port and data, which can be stopped, killed and started again. */
export class Server {
  readonly url: string
  readonly port: number
  readonly #options: ServerOptions
  readonly #failure = Promise.withResolvers<string>()
  /** Resolves when the process first ends unexpectedly, with the way it ended. */
  readonly failed = this.#failure.promise
  #child: Child | undefined
  #asked = false

  constructor(options: ServerOptions) {
    this.url = options.url
    this.port = options.port
    this.#options = options
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** The output since the last start. */
  logTail(): string {
    return this.#child?.logTail() ?? ''
  }

  /** Starts the server and waits until it is ready. */
  async start(): Promise<this> {
    const { process, probe, startAgain } = this.#options
    this.#asked = false
    for (let attempt = 1; ; attempt++) {
      const child = await startChild(process())
      this.#child = child
      try {
        await untilReady(child, () => probe(child))
        void child.ended.then((how) => {
          if (this.#child === child && !this.#asked) this.#failure.resolve(how)
        })
        return this
      } catch (error) {
        if (this.#asked || attempt === MAX_START_ATTEMPTS || !startAgain?.test(child.logTail())) throw error
      }
      await sleep(START_AGAIN_AFTER_MS)
    }
  }

  /** Stops the server permanently, even while it starts. */
  async stop(): Promise<void> {
    this.#asked = true
    await this.#child?.stop()
    this.#options.remove?.()
  }

  /** Kills the server like a crash; it stays away until `start` or `restart`. */
  async kill(): Promise<void> {
    this.#asked = true
    await this.#child?.kill()
  }

  /** Stops the server if it runs, and starts it again on the same port and data. */
  async restart(): Promise<void> {
    this.#asked = true
    await this.#child?.stop()
    await this.start()
  }
}

// -- Ports ----------------------------------------------------------------------------------------------------------

/**
 * The ports are below the range from which the system assigns ports to connections, which might take one before its
 * server listens.
 */
const OWN_PORTS = [15_000, 31_900] as const
const PORTS_TRIED = 100

/**
 * A free port, never the same twice. The search starts at a random port, so that concurrent processes rarely collide.
 */
export function freePort(): Promise<number> {
  const first = randomInt(...OWN_PORTS)
  return getPort({ port: portNumbers(first, first + PORTS_TRIED), reserve: true })
}

/** Reserves a port from `freePort` for its caller. False if something already uses it. */
export const reservePort = async (port: number): Promise<boolean> => (await getPort({ port, reserve: true })) === port
