/**
 * The data folder of a system on one machine. One system at a time uses it, and the next start finds the data and
 * secrets in it. Secrets are made once, so that tokens outlive a restart.
 */
import { createECDH, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, globSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { lock } from 'proper-lockfile'
import * as v from 'valibot'
import { newKeySet, SecretJwkSet } from '../../shared/keys.ts'
import { folderFor, LocalError, readPidFile, removedAtEnd, stopLeftovers, writePidFile } from './leftovers.ts'

/**
 * A lock that its owner has not renewed for this long is free, because the owner was killed. The wait for a lock is
 * slightly longer.
 */
const LOCK_STALE_MS = 5_000
const LOCK = 'start.lock'
const LOCK_TRIES = 25
const LOCK_AGAIN_MS = 250

/**
 * Locks the folder until `release`, a temporary one if none is named, and stops servers that a killed start left
 * there.
 */
export async function takeFolder(dataDir: string | undefined) {
  const { path, remove } = folderFor(dataDir, 'system')
  if (dataDir === undefined) {
    // Postgres may run as another user, who must have access through this folder to its own.
    chmodSync(path, 0o711)
    return { path, release: async () => remove() }
  }
  const owner = join(path, 'start.pid')
  const unlock = await lockFolder(path, owner)
  removedAtEnd(join(path, LOCK))
  await stopLeftovers(path)
  const ownerFile = removedAtEnd(owner)
  writePidFile(owner, process.pid)
  // The logs of the previous run are retained once, so that logs never fill the disk.
  for (const log of globSync('*/*.log', { cwd: path })) renameSync(join(path, log), join(path, `${log}.old`))
  const release = async () => {
    ownerFile.remove()
    await unlock().catch(() => {})
  }
  return { path, release }
}

/** Keeps a second system off the same data. */
async function lockFolder(folder: string, owner: string): Promise<() => Promise<void>> {
  const inUse = (pid: number | string = '(unknown)') =>
    new LocalError(
      `Process ${pid} is already running a system on ${folder}: stop it, or choose another folder with --data.`,
    )
  for (let tries = 1; ; tries++) {
    const found = readPidFile(owner)
    if (found?.runs) throw inUse(found.pid)
    try {
      return await lock(folder, {
        lockfilePath: join(folder, LOCK),
        stale: LOCK_STALE_MS,
        update: 1_000,
        // The folder was removed, or this machine slept. Postgres protects its data itself.
        onCompromised() {},
      })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ELOCKED') throw error
      if (tries === LOCK_TRIES) throw inUse()
    }
    await sleep(LOCK_AGAIN_MS)
  }
}

/** Converts a file system error in the data folder to a line for the user, whichever part caused it. */
export function folderError(error: unknown, dataDir: string | undefined): unknown {
  const folder = resolve(dataDir ?? tmpdir())
  const { code, path } = error as NodeJS.ErrnoException
  // A failed write has no path in its error, unlike a failed open.
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new LocalError(`The disk with ${folder} is full (${code}): make room there, or choose another.`)
  if (dataDir === undefined || code === undefined || !path?.startsWith(folder)) return error
  const why = [code, relative(folder, path)].filter(Boolean).join(': ')
  return new LocalError(
    `The data folder ${folder} cannot be used (${why}): make all of it your own, or choose another with --data.`,
  )
}

// -- Secrets -------------------------------------------------------------------------------------------------------

const secretText = v.pipe(v.string(), v.nonEmpty())
const Secrets = v.object({
  adminToken: secretText,
  edgeToken: secretText,
  webhookSecret: secretText,
  queueKeys: SecretJwkSet,
  admissionKeys: SecretJwkSet,
  orderKeys: SecretJwkSet,
  webhookKeys: SecretJwkSet,
  /** Keys of push messages (RFC 8292), in base64url. */
  vapidKeys: v.object({ public: secretText, private: secretText }),
})
export type Secrets = Readonly<v.InferOutput<typeof Secrets>>

/**
 * The file contains only the operator's token of this start, for `$(cat ...)` on a command line, and for a rehearsal.
 */
export const ADMIN_TOKEN_FILE = 'admin-token'

/** Makes the secrets the first time and reads them later, so that tokens outlive a restart. */
export function loadSecrets(dataDir: string, adminToken: string | undefined): Secrets {
  const file = join(dataDir, 'secrets.json')
  const found = existsSync(file) ? readFileSync(file, 'utf8') : undefined
  let secrets: Secrets
  try {
    secrets = found === undefined ? newSecrets() : v.parse(Secrets, JSON.parse(found))
  } catch {
    throw new LocalError(`The secrets in ${file} cannot be read: mend the file, or remove the data folder.`)
  }
  const text = `${JSON.stringify(secrets, null, 2)}\n`
  if (text !== found) {
    // The file is written under another name and then renamed, so that it is complete or absent even after an
    // interruption.
    writeFileSync(`${file}.unfinished`, text, { mode: 0o600 })
    renameSync(`${file}.unfinished`, file)
  }
  const inUse = { ...secrets, ...(adminToken !== undefined && { adminToken }) }
  writeFileSync(join(dataDir, ADMIN_TOKEN_FILE), `${inUse.adminToken}\n`, { mode: 0o600 })
  return inUse
}

export function newVapidKeys() {
  const pair = createECDH('prime256v1')
  const key = pair.generateKeys('base64url')
  // A private key that begins with zeros is returned without them.
  return { public: key, private: Buffer.from(pair.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url') }
}

function newSecrets(): Secrets {
  const secret = () => randomBytes(32).toString('base64url')
  return {
    adminToken: secret(),
    edgeToken: secret(),
    webhookSecret: secret(),
    queueKeys: newKeySet(),
    admissionKeys: newKeySet(),
    orderKeys: newKeySet(),
    webhookKeys: newKeySet(),
    vapidKeys: newVapidKeys(),
  }
}
