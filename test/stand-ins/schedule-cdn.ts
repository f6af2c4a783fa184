/** A plain CDN that pulls schedules from an origin, keeps them for as long as it may, and fails as a test wants. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { serveOnLoopback } from '../../dev/servers/loopback.ts'

/** `stale`: serves what it has, however old, and does not say so. */
export type CdnMode = 'works' | 'error' | 'hangs' | 'stale'

const PASSED = /^(content-type|cache-control|etag|access-control-.*)$/

interface Kept {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  readonly atMs: number
  readonly forMs: number
}

export async function startScheduleCdn() {
  let mode: CdnMode = 'works'
  let originUrl = ''
  const kept = new Map<string, Kept>()
  const requests: IncomingMessage[] = []
  const hanging: ServerResponse[] = []
  let pulls = 0

  const pull = async (path: string): Promise<Kept> => {
    pulls++
    const response = await fetch(originUrl + path)
    const { status, headers } = response
    const forMs = 1_000 * Number(/public, max-age=(\d+)/.exec(headers.get('cache-control') ?? '')?.[1] ?? 0)
    const entry = { status, headers, body: await response.text(), atMs: Date.now(), forMs }
    kept.set(path, entry)
    return entry
  }
  const { url, stop } = await serveOnLoopback(async (request, response) => {
    requests.push(request)
    const path = request.url ?? ''
    if (mode === 'error') return void response.writeHead(500).end()
    if (mode === 'hangs') return void hanging.push(response)
    const known = kept.get(path)
    const ageMs = known ? Date.now() - known.atMs : 0
    const isServed = known && (mode === 'stale' || ageMs < known.forMs)
    const { status, headers, body } = isServed ? known : await pull(path)
    const passed = [...headers].filter(([name]) => PASSED.test(name))
    const age = isServed && mode !== 'stale' ? { age: String(Math.floor(ageMs / 1_000)) } : {}
    response.writeHead(status, { ...Object.fromEntries(passed), ...age }).end(body)
  })
  return {
    url,
    stop,
    /** What pages have asked of it. */
    requests,
    pulls: () => pulls,
    pullsFrom(url: string) {
      originUrl = url
    },
    set(next: CdnMode) {
      mode = next
      for (const response of hanging.splice(0)) response.destroy()
    },
  }
}
