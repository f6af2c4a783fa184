/** What commands share: how they are told what to do, how they show it in a terminal, and the one way out. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ParseArgsOptionsConfig, parseArgs, styleText } from 'node:util'
import { killEverything, LocalError, SAME_KEYSTROKE_MS, stopEverything } from './processes.ts'

/** How often to look whether npm, which started us, is still there. */
const PARENT_LOOK_EVERY_MS = 1000

/** Told something it cannot do; the message is one line for the person at the terminal. */
export class UsageError extends Error {}

export const terminal = process.stdout.isTTY === true
export const paint = (format: Parameters<typeof styleText>[0], text: string) =>
  terminal ? styleText(format, text) : text

/** The options as they stand on the command line: an unknown one is refused, and so is one with nothing in it. */
export function optionsOf<const T extends ParseArgsOptionsConfig>(
  options: T,
  command: string,
  args: readonly string[] = process.argv.slice(2),
) {
  const values = parsed()
  for (const [name, value] of Object.entries(values))
    if ([value].flat().some((text) => typeof text === 'string' && text.trim() === ''))
      throw new UsageError(`--${name} needs a value, and was given none.`)
  return values

  function parsed() {
    try {
      return parseArgs({ args: [...args], options }).values
    } catch (error) {
      // What is wrong stands in the first sentence; how to escape a dash, in the lines after it, is not what helps.
      const [sentence = ''] = (error as Error).message.split(/\.\s/)
      throw new UsageError(`${sentence.replace(/\.?$/, '')}. See npm ${command} -- --help`)
    }
  }
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

/** Makes a folder for results, and sees that it can be written to: before all is measured, not after. */
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

/** Started by npm, and npm was killed: nobody is left who could press Ctrl-C. */
export function whenNpmIsGone(leave: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) leave()
  }, PARENT_LOOK_EVERY_MS).unref()
}

/**
 * Runs a command and leaves with the status it comes to: 2 for what could not be done (`failure` says what that was), 130
 * when it is interrupted. Whatever ends it, servers that were started are stopped, after `before` has had its say; a
 * second interruption stops all at once.
 */
export async function run(
  failure: string,
  command: (leave: (status: number, line?: string) => Promise<void>) => Promise<number>,
  before: () => Promise<void> = async () => {},
): Promise<void> {
  let leaving = false
  const leave = async (status: number, line?: string) => {
    if (leaving) return
    leaving = true
    if (line !== undefined) console.error(line)
    await before().catch(() => {})
    await stopEverything().catch(() => {})
    process.exit(status)
  }
  let interruptedAtMs: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const nowMs = performance.now()
      if (interruptedAtMs !== undefined && nowMs - interruptedAtMs > SAME_KEYSTROKE_MS) {
        killEverything()
        process.exit(130)
      }
      interruptedAtMs ??= nowMs
      void leave(130, '\nInterrupted. Stopping (once more to stop at once) ...')
    })
  }
  // Whoever read our output has gone (`| head`): nobody is left to tell.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => void leave(2))
  whenNpmIsGone(() => void leave(2))
  try {
    await leave(await command(leave))
  } catch (error) {
    await leave(2, `${failure} ${textOf(error)}`)
  }
}

/** What a person can do something about is a sentence; anything else is shown with where it came from. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isTold = error instanceof UsageError || error instanceof LocalError
  return isTold ? error.message : (error.stack ?? error.message)
}
