/**
 * How a connection to a store is encrypted, and by which password it is opened, from its URL. Whatever is encrypted is
 * verified: the certificate against the authorities of the system, or against those in a file that the URL names.
 */
import { readFileSync } from 'node:fs'

/** Options of Node's tls.connect. */
export interface Tls {
  /** The authorities in PEM; those of the system if absent. */
  readonly ca?: string
  /** Present if a certificate may be for any host name. */
  readonly checkServerIdentity?: () => undefined
}

const isThisMachine = (host: string) => host === 'localhost' || host === '[::1]' || /^127\./.test(host)

/** Reads the password that a connection is opened with now. */
type Password = () => string

/**
 * Reads `passwordfile`, `sslmode` and `sslrootcert` of a Postgres URL, and returns the URL without them; `ssl` is false
 * for a connection in the clear. Without `sslmode` only a server on this machine, or at a socket, is spoken to in the
 * clear. `require` verifies as `verify-full` does, since encryption to whoever answers protects nothing. Throws an
 * Error for a mode that leaves encryption to the server, and for a file that cannot be read.
 */
export function postgresAddress(text: string): {
  readonly url: string
  readonly options: { readonly ssl: Tls | false; readonly pass?: Password }
} {
  const url = new URL(text)
  const [mode, file, passwordFile] = ['sslmode', 'sslrootcert', 'passwordfile'].map((name) => {
    const value = url.searchParams.get(name)
    url.searchParams.delete(name)
    return value
  })
  const pass = passwordFile ? { pass: passwordIn(passwordFile, 'DATABASE_URL') } : {}
  return { url: url.href, options: { ssl: sslOf(url, mode ?? null, file ?? null), ...pass } }
}

function sslOf(url: URL, mode: string | null, file: string | null): Tls | false {
  const ca = file === null || file === 'system' ? {} : { ca: readAuthority(file, 'sslrootcert of DATABASE_URL') }
  switch (mode) {
    case 'disable':
      return false
    case 'verify-ca':
      return { ...ca, checkServerIdentity: () => undefined }
    case 'require':
    case 'verify-full':
      return ca
    case null: {
      const isSocket = url.hostname === '' || url.searchParams.has('host')
      return file === null && (isSocket || isThisMachine(url.hostname)) ? false : ca
    }
    default:
      throw new Error(
        `sslmode=${mode} of DATABASE_URL lets the server decide: give disable, verify-ca or verify-full (as require)`,
      )
  }
}

/**
 * Reads `cafile` and `passwordfile` of a Redis URL, and returns the URL without them and without the `s` of an
 * encrypted one; `tls` is undefined for a connection in the clear.
 */
export function redisAddress(text: string): {
  readonly url: string
  readonly tls: Tls | undefined
  readonly password: Password | undefined
} {
  const [plain = '', query] = text.split('?')
  const names = new URLSearchParams(query)
  const [file, passwordFile] = [names.get('cafile'), names.get('passwordfile')]
  const password = passwordFile === null ? undefined : passwordIn(passwordFile, 'REDIS_URL')
  if (!/^rediss/.test(plain)) {
    if (file !== null) throw new Error('cafile of REDIS_URL needs rediss: the connection is not encrypted')
    return { url: plain, tls: undefined, password }
  }
  const ca = file === null ? {} : { ca: readAuthority(file, 'cafile of REDIS_URL') }
  return { url: plain.replace('rediss', 'redis'), tls: ca, password }
}

/** A file without a password is an error at once, and later at the connection that needs it. */
function passwordIn(file: string, setting: string): Password {
  const read = () => readFileOf(file, `passwordfile of ${setting}`).trim()
  read()
  return read
}

function readFileOf(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`${file}, the ${what}, cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

function readAuthority(file: string, what: string): string {
  const text = readFileOf(file, what)
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw new Error(`${file}, the ${what}, holds no certificate in PEM`)
  return text
}

/** Node's codes for a certificate that is not accepted. */
const DISTRUSTED = new Set([
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT', 'INVALID_CA'],
  ...['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'CERT_HAS_EXPIRED', 'CERT_UNTRUSTED'],
  ...['CERT_NOT_YET_VALID', 'CERT_SIGNATURE_FAILURE', 'CERT_REVOKED', 'ERR_TLS_CERT_ALTNAME_INVALID'],
])

/** What is wrong with the encryption, in a sentence; null if the failure has another reason. */
export function tlsFault(store: string, setting: string, error: Error & { code?: string }): string | null {
  const { code = '', message } = error
  if (DISTRUSTED.has(code))
    return `the certificate of ${store} is not trusted (${message}): ${setting} names its authority`
  // A Postgres without TLS hangs up in the middle of the handshake.
  if (/^(ERR_SSL_|EPROTO)/.test(code) || message.includes('before secure TLS connection'))
    return `${store} does not speak TLS at this address (${message})`
  return null
}
