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
import { exportJWK, generateKeyPair } from 'jose'
import * as v from 'valibot'
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
  queueSecret: secretText,
  /** The edge's Ed25519 key, as a private JWK with `kid`. */
  admissionPrivateJwk: v.looseObject({
    kty: v.literal('OKP'),
    crv: v.literal('Ed25519'),
    kid: secretText,
    x: secretText,
    d: secretText,
  }),
})
export type Secrets = Readonly<v.InferOutput<typeof Secrets>>

/** Where the operator's token of this start stands by itself: for `$(cat ...)` on a command line, and for a rehearsal. */
export const ADMIN_TOKEN_FILE = 'admin-token'

/** Makes the secrets the first time and finds them again afterwards, so that tokens outlive a restart. */
export async function loadSecrets(dataDir: string, adminToken: string | undefined): Promise<Secrets> {
  const file = join(dataDir, 'secrets.json')
  let secrets: Secrets
  if (existsSync(file)) {
    try {
      secrets = v.parse(Secrets, JSON.parse(readFileSync(file, 'utf8')))
    } catch {
      throw new LocalError(`The secrets in ${file} cannot be read: mend the file, or remove the data folder.`)
    }
  } else {
    secrets = await makeSecrets()
    // Complete or not there at all, whenever we are interrupted.
    writeFileSync(`${file}.unfinished`, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 })
    renameSync(`${file}.unfinished`, file)
  }
  const inUse = { ...secrets, ...(adminToken !== undefined && { adminToken }) }
  writeFileSync(join(dataDir, ADMIN_TOKEN_FILE), `${inUse.adminToken}\n`, { mode: 0o600 })
  return inUse
}

async function makeSecrets(): Promise<Secrets> {
  const secret = () => randomBytes(32).toString('base64url')
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
  return v.parse(Secrets, {
    adminToken: secret(),
    edgeToken: secret(),
    orderTokenSecret: secret(),
    webhookSecret: secret(),
    queueSecret: secret(),
    admissionPrivateJwk: {
      ...(await exportJWK(privateKey)),
      alg: 'EdDSA',
      use: 'sig',
      kid: randomBytes(8).toString('hex'),
    },
  })
}

/** What the origin may know of the key: enough to check its signatures. */
export function publicHalf({ d: _, ...rest }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return rest
}
