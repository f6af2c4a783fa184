/**
 * The data folder of a system on one machine: used by one system at a time, and what is found there again at the next
 * start. Secrets are made once, so that tokens outlive a restart.
 */
import { randomBytes } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import * as v from 'valibot'
import { newKeySet, SecretJwkSet } from '../shared/tokens.ts'
import { LocalError, temporaryFolder } from './processes.ts'

/** Takes the folder into use, a temporary one where none is wanted, until it is released. */
export function takeFolder(wanted: string | undefined): { path: string; release: () => void } {
  if (wanted === undefined) {
    const temporary = temporaryFolder('system')
    // Postgres may run as another user, who must pass through here to its own folder.
    chmodSync(temporary.path, 0o711)
    return { path: temporary.path, release: () => temporary.remove() }
  }
  const folder = resolve(wanted)
  mkdirSync(folder, { recursive: true })
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  return { path: folder, release: lock(folder) }
}

/** What the file system refuses in the data folder, whichever part wanted it, is for the person to put right. */
export function folderTrouble(error: unknown, wanted: string | undefined): unknown {
  const folder = resolve(wanted ?? tmpdir())
  const { code, path } = error as NodeJS.ErrnoException
  // What cannot be written is told without its path, unlike what cannot be opened.
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new LocalError(`The disk with ${folder} is full (${code}): make room there, or choose another.`)
  if (wanted === undefined || code === undefined || !path?.startsWith(folder)) return error
  const why = [code, relative(folder, path)].filter(Boolean).join(': ')
  return new LocalError(
    `The data folder ${folder} cannot be used (${why}): make all of it your own, or choose another with --data.`,
  )
}

/**
 * Keeps a second system off the same data. A lock whose process has ended is worth nothing. It is a link that leads
 * nowhere: such a one is made with its owner in it or not at all, and by one only of those who start at the same moment.
 */
function lock(folder: string): () => void {
  const file = join(folder, 'lock')
  for (let attempt = 1; ; attempt++) {
    try {
      symlinkSync(`${process.pid} ${startedAt(process.pid)}`, file)
      return () => rmSync(file, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const [pid, since] = ownerOf(file).split(' ')
    if (startedAt(Number(pid)) === since || attempt > 1) {
      throw new LocalError(
        `Process ${pid} is already running a system on ${folder}: stop it, or choose another folder with --data.`,
      )
    }
    rmSync(file, { force: true })
  }
}

function ownerOf(file: string): string {
  try {
    return readlinkSync(file)
  } catch {
    return 'nobody before' // It has been released meanwhile, or is no lock.
  }
}

/** When a process began, so that a later one with the same number is not taken for it; undefined if there is none. */
function startedAt(pid: number): string | undefined {
  try {
    // Linux: the 22nd field; the second, the program's name, may hold spaces and ends with the last parenthesis.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19]
  } catch {
    if (existsSync('/proc/self/stat')) return undefined
  }
  try {
    process.kill(pid, 0)
    return 'alive'
  } catch {
    return undefined
  }
}

// -- Secrets -------------------------------------------------------------------------------------------------------

const secretText = v.pipe(v.string(), v.nonEmpty())
const Secrets = v.object({
  adminToken: secretText,
  edgeToken: secretText,
  orderTokenSecret: secretText,
  webhookSecret: secretText,
  queueKeys: SecretJwkSet,
  admissionKeys: SecretJwkSet,
})
export type Secrets = Readonly<v.InferOutput<typeof Secrets>>

/** Where the operator's token of this start stands by itself: for `$(cat ...)` on a command line, and for a rehearsal. */
export const ADMIN_TOKEN_FILE = 'admin-token'

/** Makes the secrets the first time and finds them again afterwards, so that tokens outlive a restart. */
export function loadSecrets(dataDir: string, adminToken: string | undefined): Secrets {
  const file = join(dataDir, 'secrets.json')
  const found = existsSync(file) ? readFileSync(file, 'utf8') : '{}'
  let secrets: Secrets
  try {
    secrets = v.parse(Secrets, { ...newSecrets(), ...fromVersionBefore(JSON.parse(found)) })
  } catch {
    throw new LocalError(`The secrets in ${file} cannot be read: mend the file, or remove the data folder.`)
  }
  const text = `${JSON.stringify(secrets, null, 2)}\n`
  if (text !== found) {
    // Complete or not there at all, whenever we are interrupted.
    writeFileSync(`${file}.unfinished`, text, { mode: 0o600 })
    renameSync(`${file}.unfinished`, file)
  }
  const inUse = { ...secrets, ...(adminToken !== undefined && { adminToken }) }
  writeFileSync(join(dataDir, ADMIN_TOKEN_FILE), `${inUse.adminToken}\n`, { mode: 0o600 })
  return inUse
}

function newSecrets(): Secrets {
  const secret = () => randomBytes(32).toString('base64url')
  return {
    adminToken: secret(),
    edgeToken: secret(),
    orderTokenSecret: secret(),
    webhookSecret: secret(),
    queueKeys: newKeySet(),
    admissionKeys: newKeySet(),
  }
}

/** The version before had a text to sign places with. As a key, the edge knows its visitors by it again. */
function fromVersionBefore(found: { queueSecret?: string }): object {
  if (found.queueSecret === undefined) return found
  const k = Buffer.from(found.queueSecret).toString('base64url')
  return { queueKeys: { keys: [{ kty: 'oct', kid: 'queue-secret', k }] }, ...found }
}
