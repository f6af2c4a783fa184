/**
 * Fetches a picture from elsewhere, from the public Internet unless private networks are allowed. Redirects are not
 * followed.
 */
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isPublic, literalIn, publicLookup, type Resolve } from '../webhooks/network-guard.ts'
import { NoPicture } from './resize.ts'

export const MAX_PICTURE_BYTES = 15 * 1024 * 1024
const TIMEOUT_MS = 15_000

export interface DownloadOptions {
  readonly allowPrivate: boolean
  readonly allowHttp: boolean
  /** Finds the addresses of a name. */
  readonly resolve?: Resolve
}

/** Returns the bytes at an address, before `until` aborts. Throws NoPicture with the reason if they cannot be read. */
export async function download(
  address: string,
  { allowPrivate, allowHttp, resolve }: DownloadOptions,
  until?: AbortSignal,
): Promise<Uint8Array> {
  const url = URL.canParse(address) ? new URL(address) : null
  if (url?.protocol !== 'https:' && !(allowHttp && url?.protocol === 'http:'))
    throw new NoPicture('an https address is required')
  const literal = literalIn(url)
  if (!allowPrivate && literal !== undefined && !isPublic(literal))
    throw new NoPicture('not an address of the Internet')
  const { promise, resolve: done, reject } = Promise.withResolvers<Uint8Array>()
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  const signal = until ? AbortSignal.any([timeout, until]) : timeout
  const options = {
    agent: false,
    signal,
    headers: { accept: 'image/*', 'user-agent': 'flash-sale' },
    ...(!allowPrivate && { lookup: publicLookup(resolve) }),
  } as const
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options, (response) => {
    const chunks: Buffer[] = []
    let bytes = 0
    if (response.statusCode !== 200) request.destroy(new NoPicture(`its host answered with ${response.statusCode}`))
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > MAX_PICTURE_BYTES) request.destroy(new NoPicture(`more than ${MAX_PICTURE_BYTES} bytes`))
    })
    response.on('error', reject)
    response.on('end', () => done(Buffer.concat(chunks)))
  })
  request.on('error', reject)
  request.end()
  return promise.catch((error: Error) => {
    if (error instanceof NoPicture) throw error
    throw new NoPicture(signal.aborted ? 'its host took too long' : `its host cannot be reached: ${error.message}`)
  })
}
