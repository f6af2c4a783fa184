/**
 * Documents of a sale that never change under their version, as the origin writes them: a hall's chart, a sale's
 * goods.
 */
import { CACHE_TTL, cacheHeaders, immutableHeaders } from '../http/cache.ts'
import { type Call, etagOf, refuse, sendTagged } from '../http/call.ts'
import { callInternal } from '../http/origin.ts'

type Kind = 'chart' | 'goods'

/** A version of a document in the form in which it is sent. */
export interface Version {
  readonly body: Uint8Array
  readonly etag: string
}

/**
 * The route `GET /sales/{sale}/{kind}?v=VERSION`: the current version is cached permanently, and any other address
 * redirects to it.
 */
export async function sendVersion(
  kind: Kind,
  sale: string,
  version: number | null,
  call: Call,
  load: (version: number) => Promise<Version>,
): Promise<Response> {
  if (version === null) refuse('not-found')
  if (new URL(call.request.url).searchParams.get('v') !== String(version)) {
    const location = `/sales/${sale}/${kind}?v=${version}`
    return new Response(null, { status: 302, headers: { location, ...cacheHeaders(sale, CACHE_TTL.current) } })
  }
  const { body, etag } = await load(version)
  const headers = { 'content-type': 'application/json', etag, ...immutableHeaders(sale) }
  return sendTagged(call.request, headers, () => body)
}

export async function loadVersion(kind: Kind, sale: string, version: number, call: Call): Promise<Version> {
  const response = await readInternal(`/sales/${sale}/${kind}?v=${version}`, call)
  const body = new Uint8Array(await response.arrayBuffer())
  return { body, etag: await etagOf(body) }
}

/**
 * Reads an internal document of the origin. If another process of the origin has a newer version, this one will have
 * it in a moment.
 */
export async function readInternal(path: string, call: Call): Promise<Response> {
  const response = await callInternal(path, call)
  return response.ok ? response : refuse('try-again', { retry_after_seconds: 1 })
}
