/** Shared by the commands: options, progress lines in a terminal, and the way a command ends. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs, styleText } from 'node:util'
import { killEverything, LocalError, stopEverything } from './processes.ts'

/**
 * npm passes Ctrl-C on to the command, which also gets it from the terminal. Two signals this close together count as
 * one.
 */
const SAME_KEYSTROKE_MS = 500
/** Stopping all parts in order may take this long altogether. */
const STOP_ALL_WITHIN_MS = 30_000
/** The command checks this often that the npm that started it still runs. */
const PARENT_CHECK_EVERY_MS = 1000

/** The user requested something impossible. The message is one line for the terminal. */
export class UsageError extends Error {}

// -- Options --------------------------------------------------------------------------------------------------------

/** The names in a list that is separated by spaces. */
type Words<S extends string> = S extends `${infer First} ${infer More}` ? First | Words<More> : S

/**
 * The options on the command line: `texts` and `flags` list the names of those with and without a value. Refuses an
 * unknown option, and one with an empty value. `run` has already handled --help.
 */
export function optionsOf<T extends string, F extends string = never>(
  command: string,
  { texts, flags }: { readonly texts: T | readonly T[]; readonly flags?: F },
  args: readonly string[] = process.argv.slice(2),
): { [Name in Words<T>]?: string } & { [Name in Words<F>]?: boolean } {
  const named = (names: string | readonly string[], type: 'string' | 'boolean') =>
    Object.fromEntries([names].flat().flatMap((list) => list.split(' ').map((name) => [name, { type }])))
  const options = { ...named(texts, 'string'), ...(flags && named(flags, 'boolean')) }
  let values: Record<string, string | boolean | undefined>
  try {
    values = parseArgs({ args: [...args], options }).values
  } catch (error) {
    // The first sentence describes the error; the next lines describe how to escape a dash, which does not help here.
    const [sentence = ''] = (error as Error).message.split(/\.\s/)
    throw new UsageError(`${sentence.replace(/\.?$/, '')}. See npm ${command} -- --help`)
  }
  for (const [name, value] of Object.entries(values))
    if (typeof value === 'string' && value.trim() === '')
      throw new UsageError(`--${name} needs a value, and was given none.`)
  return values as ReturnType<typeof optionsOf<T, F>>
}

export function numberOf(name: string, text: string | undefined, usual: number, min: number, max: number) {
  const value = text === undefined ? usual : Number(text)
  if (!(value >= min && value <= max))
    throw new UsageError(`--${name} needs a number from ${min} to ${max}, not "${text}".`)
  return value
}

export function wholeOf(name: string, text: string | undefined, usual: number, min: number, max: number) {
  const value = numberOf(name, text, usual, min, max)
  if (!Number.isSafeInteger(value)) throw new UsageError(`--${name} needs a whole number, not "${text}".`)
  return value
}

/**
 * Makes a folder for results and checks that it is writable. Commands call it before their work, so that a wrong
 * folder is reported at once.
 */
export function writableFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true })
    const probe = join(path, `.writable-${process.pid}`)
    writeFileSync(probe, '')
    rmSync(probe)
  } catch (error) {
    throw new UsageError(`Nothing can be written to ${path} (${(error as NodeJS.ErrnoException).code}).`)
  }
}

// -- The terminal ---------------------------------------------------------------------------------------------------

export const terminal = process.stdout.isTTY === true
export const paint = (format: Parameters<typeof styleText>[0], text: string) =>
  terminal ? styleText(format, text) : text

/** Prints a line for each part that is ready. A terminal also shows a line with the parts that are starting. */
export class ProgressLines {
  readonly #startedAt = new Map<string, number>()

  begin(part: string): void {
    this.#startedAt.set(part, performance.now())
    this.#show()
  }

  ready(part: string, detail: string): void {
    const seconds = (performance.now() - (this.#startedAt.get(part) ?? 0)) / 1000
    this.#startedAt.delete(part)
    const name = `${part[0]?.toUpperCase()}${part.slice(1)}`.padEnd(12)
    this.say(`${paint('green', '✓')} ${name} ${paint('dim', `${seconds.toFixed(1)} s  ${detail}`)}`)
  }

  say(line: string): void {
    this.#clear()
    console.log(line)
    this.#show()
  }

  done(): void {
    this.#startedAt.clear()
    this.#clear()
  }

  #clear(): void {
    if (terminal) process.stdout.write('\r\x1b[K')
  }

  #show(): void {
    const parts = [...this.#startedAt.keys()].join(', ')
    if (terminal && parts !== '') process.stdout.write(`\r\x1b[K${paint('cyan', '…')} starting ${parts}`)
  }
}

// -- From start to end ----------------------------------------------------------------------------------------------

export type Leave = (status: number, why?: string) => Promise<void>

/**
 * Runs a command, or only prints its help, and exits with the status that it returns, or with that of a failure or an
 * interruption. However it ends, it calls `before` and stops all servers, within a time limit; a second interruption
 * kills them at once.
 */
export async function run(
  help: string,
  failure: string,
  command: (leave: Leave) => Promise<number>,
  before: () => Promise<void> = async () => {},
  status = { failed: 2, interrupted: 130 },
): Promise<void> {
  if (process.argv.some((arg) => arg === '--help' || arg === '-h')) return console.log(help)
  let leaving = false
  const leave = async (status: number, why?: string, lastLine?: string) => {
    if (leaving) return
    leaving = true
    setTimeout(kill, STOP_ALL_WITHIN_MS, 1)
    if (why !== undefined) console.error(why)
    await before().catch(() => {})
    await stopEverything().catch(() => {})
    if (lastLine !== undefined) console.log(lastLine)
    process.exit(status)
  }
  const kill = (status: number) => {
    killEverything()
    process.exit(status)
  }
  let interruptedAtMs: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const nowMs = performance.now()
      if (interruptedAtMs !== undefined && nowMs - interruptedAtMs > SAME_KEYSTROKE_MS) kill(130)
      interruptedAtMs ??= nowMs
      if (leaving) return
      console.log(`${terminal ? '\n' : ''}Stopping (once more to stop at once) ...`)
      void leave(status.interrupted, undefined, 'Stopped.')
    })
  }
  // The reader of the output has ended (`| head`).
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => void leave(status.failed))
  leaveWithNpm(() => void leave(status.failed))
  try {
    await leave(await command(leave))
  } catch (error) {
    if (error instanceof UsageError) await leave(2, error.message)
    else await leave(status.failed, `${failure} ${textOf(error)}`)
  }
}

/** If npm started this process and was killed, no user can press Ctrl-C any more. */
function leaveWithNpm(leave: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) leave()
  }, PARENT_CHECK_EVERY_MS).unref()
}

/** An error that the user can correct is shown as its message alone; any other error has its stack. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error instanceof LocalError ? error.message : (error.stack ?? error.message)
}
