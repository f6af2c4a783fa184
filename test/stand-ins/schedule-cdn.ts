/** A plain CDN that reads schedules from an origin and stores them as long as allowed, until a test makes it fail. */
import type { IncomingMessage } from 'node:http'
import { serveOnLoopback } from '../../dev/lib/loopback.ts'

const PASSED = /^(content-type|cache-control|etag|access-control-.*)$/

interface Kept {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  readonly atMs: number
  readonly forMs: number
}

export async function startScheduleCdn() {
  let originUrl = ''
  let fails = false
  const kept = new Map<string, Kept>()
  /** The requests of pages to the CDN. */
  const requests: IncomingMessage[] = []

  const pull = async (path: string): Promise<Kept> => {
    const response = await fetch(originUrl + path)
    const { status, headers } = response
    const forMs = 1_000 * Number(/public, max-age=(\d+)/.exec(headers.get('cache-control') ?? '')?.[1] ?? 0)
    const entry = { status, headers, body: await response.text(), atMs: Date.now(), forMs }
    kept.set(path, entry)
    return entry
  }
  const { url, stop } = await serveOnLoopback(async (request, response) => {
    requests.push(request)
    if (fails) return void response.writeHead(500).end()
    const path = request.url ?? ''
    const known = kept.get(path)
    const ageMs = known ? Date.now() - known.atMs : 0
    const isServed = known && ageMs < known.forMs
    const { status, headers, body } = isServed ? known : await pull(path)
    const passed = Object.fromEntries([...headers].filter(([name]) => PASSED.test(name)))
    const age = isServed && { age: String(Math.floor(ageMs / 1_000)) }
    response.writeHead(status, { ...passed, ...age }).end(body)
  })
  return {
    url,
    stop,
    requests,
    pullsFrom(url: string) {
      originUrl = url
    },
    fail() {
      fails = true
    },
  }
}
