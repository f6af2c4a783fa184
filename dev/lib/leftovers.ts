/**
 * Removes what a process leaves when SIGKILL ends it: servers, and temporary folders. A pid file names each server
 * and the owner of each temporary folder. The next start stops these servers and removes the folders whose owner no
 * longer runs.
 */
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** A problem of the machine or the settings. The message is one line for the user at the terminal. */
export class LocalError extends Error {
  override readonly name = 'LocalError'
}

/** A server gets this long to stop before it is killed; the origin limits itself to ten seconds. */
export const STOP_WITHIN_MS = 15_000
const CHECK_EVERY_MS = 25
/** Node waits one delay longer before each further attempt: 1.4 s in all. */
const REMOVE_TRIES = 10
const REMOVE_AGAIN_AFTER_MS = 25

// -- Pid files ------------------------------------------------------------------------------------------------------

/** The file records when the process started, so that a later process with the same number is not taken for it. */
export function writePidFile(file: string, pid: number): void {
  writeFileSync(file, `${JSON.stringify({ pid, startedAt: startedAt(pid) })}\n`)
}

/** The process in a pid file, and whether it still runs. */
export function readPidFile(file: string): { readonly pid: number; readonly runs: boolean } | undefined {
  try {
    const content = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; startedAt: string }
    const runs = content.startedAt !== '' && startedAt(content.pid) === content.startedAt
    return { pid: content.pid, runs }
  } catch {
    return undefined
  }
}

/** Returns an empty text if there is no such process. */
function startedAt(pid: number): string {
  try {
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    // The program's name is the second field and may contain spaces; it ends with the last parenthesis.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
    return (fields?.[0] !== 'Z' && fields?.[19]) || ''
  } catch {
    return ''
  }
}

/** Stops the servers that a killed start left on a data folder. */
export async function stopLeftovers(folder: string): Promise<void> {
  const stop = async (file: string) => {
    const left = readPidFile(file)
    if (left?.runs) {
      // All servers stop on SIGINT; on SIGTERM Postgres would wait for its clients.
      process.kill(left.pid, 'SIGINT')
      const deadline = performance.now() + STOP_WITHIN_MS
      while (readPidFile(file)?.runs && performance.now() < deadline) await sleep(CHECK_EVERY_MS)
      killGroup(left.pid)
    }
    rmSync(file, { force: true })
  }
  await Promise.all(globSync('{,*/}*.pid', { cwd: folder }).map((file) => stop(join(folder, file))))
}

/** Kills the remaining processes of a group. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The process has ended meanwhile.
  }
}

// -- Temporary files and folders ------------------------------------------------------------------------------------

interface Temporary {
  readonly path: string
  remove(): void
}

const OWNER_FILE = 'owner.pid'
const temporaries = new Set<string>()
let swept = false

/** Makes a folder that is removed at the end. */
export function temporaryFolder(purpose: string): Temporary {
  if (!swept) void sweep().catch(() => {})
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
async function sweep(): Promise<void> {
  for (const file of globSync(`flash-sale-*/${OWNER_FILE}`, { cwd: tmpdir() })) {
    const folder = join(tmpdir(), dirname(file))
    if (readPidFile(join(folder, OWNER_FILE))?.runs !== false) continue
    await stopLeftovers(folder)
    remove(folder)
  }
}

/** The folder in which data stay, or a temporary one if none is named. */
export function folderFor(path: string | undefined, purpose: string): Temporary {
  if (path === undefined) return temporaryFolder(purpose)
  mkdirSync(path, { recursive: true })
  return { path: resolve(path), remove() {} }
}

/** Removes a file or folder at the end. */
export function removedAtEnd(path: string): Temporary {
  temporaries.add(path)
  return { path, remove: () => remove(path) }
}

export function removeTemporaries(): void {
  for (const path of temporaries) remove(path)
}

function remove(path: string): void {
  // A process that was just killed may still finish writing a file. The folder is then not empty, and the removal is
  // repeated.
  rmSync(path, { recursive: true, force: true, maxRetries: REMOVE_TRIES, retryDelay: REMOVE_AGAIN_AFTER_MS })
  temporaries.delete(path)
}
