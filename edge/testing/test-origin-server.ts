/**
 * The origin of the edge's tests: a small HTTP server that sends the responses that a test has set, and reports the
 * requests that it received. It also takes the part of the shop's identity provider and of a protected web site.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort } from 'node:worker_threads'
import { issuerUrl } from '../../test/stand-ins/oidc-issuer.ts'

/** A test can read this many requests for a path, because files share some paths and run at the same time. */
const CACHE_TTL = 500

interface Stub {
  body: string
  status: number
  delayMs: number
  headers?: Record<string, string>
}

const stubs = new Map<string, Stub>()
const calls = new Map<string, number>()
/** The last requests for each path. */
const requests = new Map<string, { method: string; query: string; headers: object; body: string; atMs: number }[]>()
const server = createServer(async (request, response) => {
  const [path = '/', query = ''] = (request.url ?? '/').split('?', 2)
  const body = await text(request)
  if (request.headers.host?.startsWith('gone')) return request.socket.destroy()
  const [, root, ...rest] = path.split('/')
  const name = `/${rest.join('/')}`
  response.setHeader('content-type', 'application/json')
  if (root === 'stub') {
    stubs.set(name, JSON.parse(body))
    response.end('{}')
  } else if (root === 'issuer') {
    response.end(JSON.stringify({ url: await issuerUrl() }))
  } else if (root === 'requests') {
    response.end(JSON.stringify({ calls: calls.get(name) ?? 0, requests: requests.get(name) ?? [] }))
  } else {
    calls.set(path, (calls.get(path) ?? 0) + 1)
    const ofPath = requests.get(path) ?? []
    requests.set(path, ofPath)
    ofPath.push({ method: request.method ?? '', query, headers: request.headers, body, atMs: Date.now() })
    if (ofPath.length > CACHE_TTL) ofPath.shift()
    const stub = stubs.get(path)
    if (stub?.status === 0) return request.socket.destroy()
    if (stub?.delayMs) await new Promise((resolve) => setTimeout(resolve, stub.delayMs))
    // The server is also the cache in front of the Worker, and accepts every purge.
    response.statusCode = stub?.status ?? (request.method === 'PURGE' ? 200 : 404)
    for (const [name, value] of Object.entries(stub?.headers ?? {})) response.setHeader(name, value)
    response.end(stub?.body ?? '{}')
  }
})
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port))

async function text(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += chunk
  return body
}
