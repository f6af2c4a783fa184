/**
 * What a process leaves when SIGKILL ends it: servers, and temporary folders. A pid file names each server and the owner of
 * each temporary folder. The next start stops the servers and removes the folders whose owner no longer runs.
 */
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Something is wrong with the machine or the settings; the message is one line for the person at the terminal. */
export class LocalError extends Error {
  override readonly name = 'LocalError'
}

/** How long a server may take to stop before it is killed; the origin allows itself ten seconds. */
export const STOP_WITHIN_MS = 15_000
const CHECK_EVERY_MS = 25
/** Node waits one delay longer before each further try: 1.4 s in all. */
const REMOVE_TRIES = 10
const REMOVE_AGAIN_AFTER_MS = 25

// -- Pid files -------------------------------------------------------------------------------------------------------

/** The file names when the process began, so that a later one with the same number is not taken for it. */
export function writePidFile(file: string, pid: number): void {
  writeFileSync(file, `${JSON.stringify({ pid, startedAt: startedAt(pid) })}\n`)
}

/** The process that a pid file names, and whether it still runs. */
export function readPidFile(file: string): { readonly pid: number; readonly runs: boolean } | undefined {
  try {
    const content = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; startedAt: string }
    const runs = content.startedAt !== '' && startedAt(content.pid) === content.startedAt
    return { pid: content.pid, runs }
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

/** Stops the servers that a killed start has left on a data folder. */
export async function stopLeftovers(folder: string): Promise<void> {
  const stop = async (file: string) => {
    const left = readPidFile(file)
    if (left?.runs) {
      // All of them stop on SIGINT; Postgres would wait for its clients on SIGTERM.
      process.kill(left.pid, 'SIGINT')
      const deadline = performance.now() + STOP_WITHIN_MS
      while (readPidFile(file)?.runs && performance.now() < deadline) await sleep(CHECK_EVERY_MS)
      killGroup(left.pid)
    }
    rmSync(file, { force: true })
  }
  await Promise.all(globSync('{,*/}*.pid', { cwd: folder }).map((file) => stop(join(folder, file))))
}

/** Kills what is left of a process group. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

// -- Temporary files and folders -------------------------------------------------------------------------------------

interface Temporary {
  readonly path: string
  remove(): void
}

const OWNER_FILE = 'owner.pid'
const temporaries = new Set<string>()
let swept = false

/** A folder of our own that is removed at the end. */
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

/** The folder where data stay, or a temporary one where nobody named one. */
export function folderFor(path: string | undefined, purpose: string): Temporary {
  if (path === undefined) return temporaryFolder(purpose)
  mkdirSync(path, { recursive: true })
  return { path: resolve(path), remove() {} }
}

/** Sees that a file or folder is removed at the end. */
export function removedAtEnd(path: string): Temporary {
  temporaries.add(path)
  return { path, remove: () => remove(path) }
}

export function removeTemporaries(): void {
  for (const path of temporaries) remove(path)
}

function remove(path: string): void {
  // A process that was just killed may still finish the file that it is writing: the folder is not empty then, and tried again.
  rmSync(path, { recursive: true, force: true, maxRetries: REMOVE_TRIES, retryDelay: REMOVE_AGAIN_AFTER_MS })
  temporaries.delete(path)
}
