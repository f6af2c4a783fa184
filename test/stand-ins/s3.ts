/**
 * Storage with the part of S3 that pictures need: files in memory, for calls whose signature is checked by another
 * implementation.
 */
import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import aws4 from 'aws4'
import { serveOnLoopback } from '../../dev/lib/loopback.ts'

const S3_KEY = { accessKeyId: 'the-key', secretAccessKey: 'the-secret-of-it' }
const REGION = 'eu-central-1'

export interface S3 {
  readonly settings: Record<string, string>
  readonly files: ReadonlyMap<string, { readonly type: string | undefined; readonly bytes: Buffer }>
  /** The number of calls that were refused because of their signature or content. */
  readonly refused: () => number
  stop(): void
}

export async function startS3(): Promise<S3> {
  const files = new Map<string, { type: string | undefined; bytes: Buffer }>()
  let refused = 0
  const server = await serveOnLoopback(async (request, response) => {
    const { method, url = '' } = request
    const bytes = await buffer(request)
    if (!isSigned(request, bytes)) {
      refused++
      return void response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>')
    }
    if (method === 'PUT') {
      files.set(url, { type: request.headers['content-type'], bytes })
      return void response.writeHead(200).end()
    }
    if (method === 'DELETE') {
      files.delete(url)
      return void response.writeHead(204).end()
    }
    const file = files.get(url)
    if (!file) return void response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>')
    response.writeHead(200, { 'content-type': file.type }).end(file.bytes)
  })
  return {
    files,
    refused: () => refused,
    stop: server.stop,
    settings: {
      IMAGES_S3_ENDPOINT: server.url,
      IMAGES_S3_BUCKET: 'pictures',
      IMAGES_S3_REGION: REGION,
      IMAGES_S3_ACCESS_KEY_ID: S3_KEY.accessKeyId,
      IMAGES_S3_SECRET_ACCESS_KEY: S3_KEY.secretAccessKey,
    },
  }
}

function isSigned({ method = '', url = '', headers }: IncomingMessage, body: Buffer): boolean {
  if (headers['x-amz-content-sha256'] !== hash('sha256', body)) return false
  const names = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? []
  const signed = Object.fromEntries(names.map((name) => [name, String(headers[name])]))
  const again = aws4.sign({ service: 's3', region: REGION, method, path: url, headers: signed }, S3_KEY)
  return again.headers?.Authorization === headers.authorization
}
