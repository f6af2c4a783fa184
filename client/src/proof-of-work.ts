/**
 * Solves a proof of work (ALTCHA, altcha.org): finds the counter whose key, derived by scrypt (RFC 7914), begins as the
 * challenge says. No runtime of the web has scrypt, so that it is written out here.
 */

interface Parameters {
  readonly algorithm: string
  readonly nonce: string
  readonly salt: string
  /** The cost of scrypt (N), a power of two, its block size (r) and its parallelism (p). */
  readonly cost: number
  readonly memoryCost: number
  readonly parallelism?: number
  readonly keyLength: number
  readonly keyPrefix: string
}

export interface Challenge {
  readonly parameters: Parameters
  readonly signature?: string
}

/** A sale asks for far fewer tries. */
const MAX_TRIES = 1_000_000

/** The solution as `altcha` of a join. Throws for a challenge of another kind, and if the signal is aborted. */
export async function solve(challenge: Challenge, signal?: AbortSignal): Promise<string> {
  const { algorithm, nonce, salt, keyPrefix, keyLength, ...cost } = challenge.parameters
  if (algorithm !== 'SCRYPT') throw new Error(`The sale asks for a proof of another kind: ${algorithm}.`)
  const prefix = keyPrefix.toLowerCase()
  const password = new Uint8Array([...bytesIn(nonce), 0, 0, 0, 0])
  const counterAt = new DataView(password.buffer, password.length - 4)
  for (let counter = 0; counter < MAX_TRIES; counter++) {
    signal?.throwIfAborted()
    counterAt.setUint32(0, counter)
    const derivedKey = hexOf(await scrypt(password, bytesIn(salt), cost, keyLength))
    if (derivedKey.startsWith(prefix)) return btoa(JSON.stringify({ challenge, solution: { counter, derivedKey } }))
  }
  throw new Error('The proof of work has no solution.')
}

type Bytes = Uint8Array<ArrayBuffer>

/** scrypt by RFC 7914, section 6. */
export async function scrypt(
  password: Bytes,
  salt: Bytes,
  { cost, memoryCost: size, parallelism = 1 }: Pick<Parameters, 'cost' | 'memoryCost' | 'parallelism'>,
  length: number,
): Promise<Bytes> {
  const blocks = await pbkdf2(password, salt, parallelism * 128 * size)
  for (let part = 0; part < parallelism; part++) mix(new Uint32Array(blocks.buffer, part * 128 * size, 32 * size), cost)
  return pbkdf2(password, blocks, length)
}

async function pbkdf2(password: Bytes, salt: Bytes, bytes: number): Promise<Bytes> {
  const key = await crypto.subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits'])
  const parameters = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: 1 }
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, key, bytes * 8))
}

/** scryptROMix. Every runtime that has WebCrypto runs on little-endian machines, as the words of the blocks are. */
function mix(block: Uint32Array, cost: number): void {
  const { length } = block
  const memory = new Uint32Array(cost * length)
  const scratch = new Uint32Array(length)
  for (let i = 0; i < cost; i++) {
    memory.set(block, i * length)
    mixBlock(block, scratch)
  }
  for (let i = 0; i < cost; i++) {
    const at = ((block[length - 16] ?? 0) & (cost - 1)) * length
    for (let k = 0; k < length; k++) block[k] = (block[k] ?? 0) ^ (memory[at + k] ?? 0)
    mixBlock(block, scratch)
  }
}

/** scryptBlockMix: the even blocks of 64 bytes come first, then the odd ones. */
function mixBlock(block: Uint32Array, scratch: Uint32Array): void {
  const words = block.length
  const half = words / 2
  const x = block.slice(words - 16)
  for (let at = 0, i = 0; at < words; at += 16, i++) {
    for (let k = 0; k < 16; k++) x[k] = (x[k] ?? 0) ^ (block[at + k] ?? 0)
    salsa(x)
    scratch.set(x, (i >> 1) * 16 + (i % 2 === 0 ? 0 : half))
  }
  block.set(scratch)
}

/** The quarter rounds of Salsa20/8: each word is changed by two others. */
const QUARTERS = [
  ...[
    [4, 0, 12, 7],
    [8, 4, 0, 9],
    [12, 8, 4, 13],
    [0, 12, 8, 18],
  ],
  ...[
    [9, 5, 1, 7],
    [13, 9, 5, 9],
    [1, 13, 9, 13],
    [5, 1, 13, 18],
  ],
  ...[
    [14, 10, 6, 7],
    [2, 14, 10, 9],
    [6, 2, 14, 13],
    [10, 6, 2, 18],
  ],
  ...[
    [3, 15, 11, 7],
    [7, 3, 15, 9],
    [11, 7, 3, 13],
    [15, 11, 7, 18],
  ],
  ...[
    [1, 0, 3, 7],
    [2, 1, 0, 9],
    [3, 2, 1, 13],
    [0, 3, 2, 18],
  ],
  ...[
    [6, 5, 4, 7],
    [7, 6, 5, 9],
    [4, 7, 6, 13],
    [5, 4, 7, 18],
  ],
  ...[
    [11, 10, 9, 7],
    [8, 11, 10, 9],
    [9, 8, 11, 13],
    [10, 9, 8, 18],
  ],
  ...[
    [12, 15, 14, 7],
    [13, 12, 15, 9],
    [14, 13, 12, 13],
    [15, 14, 13, 18],
  ],
] as const satisfies readonly (readonly [to: number, a: number, b: number, turn: number])[]
const FLAT = Uint8Array.from(QUARTERS.flat())

function salsa(block: Uint32Array): void {
  const x = block.slice()
  for (let round = 0; round < 4; round++)
    for (let q = 0; q < FLAT.length; q += 4) {
      const [to = 0, a = 0, b = 0, turn = 0] = [FLAT[q], FLAT[q + 1], FLAT[q + 2], FLAT[q + 3]]
      const sum = ((x[a] ?? 0) + (x[b] ?? 0)) | 0
      x[to] = (x[to] ?? 0) ^ ((sum << turn) | (sum >>> (32 - turn)))
    }
  for (let k = 0; k < 16; k++) block[k] = (block[k] ?? 0) + (x[k] ?? 0)
}

const bytesIn = (hex: string): Bytes => Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
const hexOf = (bytes: Bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
