/** Stores pictures as files that never change under their name, in a folder or in S3-compatible storage. */
import { hash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AwsClient } from 'aws4fetch'
import type { Config } from '../base/config.ts'

export interface ImageStore {
  put(name: string, bytes: Uint8Array, type: string): Promise<void>
  /** Returns null if there is no such file. */
  get(name: string): Promise<Uint8Array | null>
  /** Succeeds if there is no such file. */
  delete(name: string): Promise<void>
}

export function folderStore(folder: string): ImageStore {
  return {
    async put(name, bytes) {
      const file = join(folder, name)
      await mkdir(dirname(file), { recursive: true })
      // The file is written under another name and then renamed, so that it is complete or absent even if this
      // process is killed.
      const unfinished = `${file}.${randomUUID()}`
      await writeFile(unfinished, bytes)
      await rename(unfinished, file)
    },
    async get(name) {
      try {
        return await readFile(join(folder, name))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw error
      }
    },
    delete: (name) => rm(join(folder, name), { force: true }),
  }
}

const S3_TIMEOUT_MS = 15_000
/** A request is repeated after a server's error or a dropped connection. */
const S3_RETRIES = 2

/** The storage failed to do what was requested. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
}

export function s3Store(config: NonNullable<Config['s3']>): ImageStore {
  const client = new AwsClient({
    accessKeyId: config.IMAGES_S3_ACCESS_KEY_ID,
    secretAccessKey: config.IMAGES_S3_SECRET_ACCESS_KEY,
    region: config.IMAGES_S3_REGION,
    service: 's3',
    retries: S3_RETRIES,
  })
  const bucket = `${config.IMAGES_S3_ENDPOINT}/${config.IMAGES_S3_BUCKET}/images/`

  async function call(name: string, init: RequestInit): Promise<Response> {
    try {
      return await client.fetch(bucket + name, { ...init, signal: AbortSignal.timeout(S3_TIMEOUT_MS) })
    } catch (error) {
      throw new StorageError(`storage of pictures: ${error}`)
    }
  }

  return {
    async put(name, bytes, type) {
      const headers = { 'content-type': type, 'x-amz-content-sha256': hash('sha256', bytes) }
      const response = await call(name, { method: 'PUT', headers, body: new Uint8Array(bytes) })
      const text = await response.text()
      if (!response.ok) throw new StorageError(`storage of pictures: ${response.status} ${text.slice(0, 200)}`)
    },
    async get(name) {
      const response = await call(name, { headers: { 'x-amz-content-sha256': hash('sha256', '') } })
      if (response.ok) return new Uint8Array(await response.arrayBuffer())
      await response.body?.cancel()
      if (response.status === 404) return null
      throw new StorageError(`storage of pictures: ${response.status}`)
    },
    async delete(name) {
      const headers = { 'x-amz-content-sha256': hash('sha256', '') }
      const response = await call(name, { method: 'DELETE', headers })
      await response.body?.cancel()
      if (!response.ok && response.status !== 404) throw new StorageError(`storage of pictures: ${response.status}`)
    },
  }
}
