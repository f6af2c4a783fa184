/**
 * Installs programs that no npm package contains. If the machine does not have one, the system's package manager
 * installs it if that is allowed; otherwise the user gets the command to run.
 */
import { existsSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { LocalError, temporaryFolder } from '../lib/leftovers.ts'
import { runToEnd } from '../lib/processes.ts'

interface Program {
  /** The name for people: "Redis". */
  readonly name: string
  /** The names of the program; one of them is enough. */
  readonly binaries: readonly string[]
  /** The package's name in Debian and Ubuntu, and in Homebrew. */
  readonly apt: string
  readonly brew: string
  /** The alternative for the user: "set REDIS_URL". */
  readonly otherwise: string
}

const INSTALL_WITHIN_MS = 300_000
/** The lock of apt-get may be held by another installation, so it waits this long. */
const APT_LOCK_SECONDS = 120
/** Debian's servers are in this folder, which only root has in its path. */
const SYSTEM_FOLDER = '/usr/sbin'

export function findOnPath(...names: string[]): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), SYSTEM_FOLDER]
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((file) => existsSync(file))
}

/**
 * Returns the program's path, and installs it if it is missing. Two installations at once would collide, so this is
 * called early.
 */
export async function ensureProgram(program: Program, say: (line: string) => void = () => {}): Promise<string> {
  return findOnPath(...program.binaries) ?? (await install(program, say))
}

async function install({ name, binaries, apt, brew, otherwise }: Program, say: (line: string) => void) {
  const howTo =
    `${name} is needed, and there is none here: install it (Debian and Ubuntu: "sudo apt-get install ${apt}"; ` +
    `macOS: "brew install ${brew}"), or ${otherwise}.`
  const aptGet = findOnPath('apt-get')
  const homebrew = findOnPath('brew')
  try {
    if (aptGet && process.getuid?.() === 0) {
      say(`${name} is not on this machine; installing it with apt-get (${apt})`)
      await installWithApt(aptGet, apt)
    } else if (homebrew) {
      say(`${name} is not on this machine; installing it with Homebrew (${brew})`)
      await run(homebrew, ['install', brew])
    }
  } catch (error) {
    throw new LocalError(`${howTo} (${(error as Error).message})`)
  }
  const binary = findOnPath(...binaries)
  if (binary === undefined) throw new LocalError(howTo)
  return binary
}

export async function installWithApt(aptGet: string, name: string): Promise<void> {
  // If dpkg has no terminal of its own, it stays in apt-get's process group, and is never left behind.
  const options = ['-o', 'Dpkg::Use-Pty=0', '-o', `DPkg::Lock::Timeout=${APT_LOCK_SECONDS}`]
  const apt = (...args: string[]) => run(aptGet, [...options, ...args])
  const install = () => apt('install', '-y', '--no-install-recommends', name)
  await install().catch(async () => {
    await apt('update')
    await install()
  })
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const folder = temporaryFolder('install')
  try {
    await runToEnd({
      name: basename(command),
      command,
      args,
      logFile: join(folder.path, 'install.log'),
      // The program itself is enough, so systemd must not start Debian's service.
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', SYSTEMD_OFFLINE: '1' },
      // On this signal apt-get first finishes the current package; SIGTERM would leave it half installed.
      killSignal: 'SIGINT',
      timeout: INSTALL_WITHIN_MS,
    })
  } finally {
    folder.remove()
  }
}
