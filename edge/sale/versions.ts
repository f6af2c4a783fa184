/** Documents of a sale that never change under their version, as the origin writes them: a hall's chart, a sale's goods. */
import { CACHE_TTL, cacheHeaders, immutableHeaders } from '../cache.ts'
import { type Call, etagOf, refuse, sendTagged } from '../call.ts'
import { callInternal } from '../origin.ts'

type Kind = 'chart' | 'goods'

/** A version of a document, as it is sent. */
export interface Version {
  readonly body: Uint8Array
  readonly etag: string
}

/** `GET /sales/{sale}/{kind}?v=VERSION`: of the version that is current, for good; any other address leads there. */
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

/** What the origin tells the edge. Where another process of it knows a newer version, this one does in a moment. */
export async function readInternal(path: string, call: Call): Promise<Response> {
  const response = await callInternal(path, call)
  return response.ok ? response : refuse('try-again', { retry_after_seconds: 1 })
}
