/**
 * The origin of the edge's tests: a small HTTP server that sends the responses that a test has set, and reports the requests
 * it received. It also stands in for the shop's identity provider and for a protected web site.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'

interface Stub {
  body: string
  status: number
  delayMs: number
  headers?: Record<string, string>
}

export default async function setup(project: TestProject) {
  const stubs = new Map<string, Stub>()
  const calls = new Map<string, number>()
  const requests: { method: string; path: string; query: string; headers: object; body: string }[] = []
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
    } else if (root === 'requests') {
      const seen = requests.filter((one) => one.path === name).slice(-10)
      response.end(JSON.stringify({ calls: calls.get(name) ?? 0, requests: seen }))
    } else {
      calls.set(path, (calls.get(path) ?? 0) + 1)
      requests.push({ method: request.method ?? '', path, query, headers: request.headers, body })
      if (requests.length > 5_000) requests.splice(0, 1_000)
      const stub = stubs.get(path)
      if (stub?.status === 0) return request.socket.destroy()
      if (stub?.delayMs) await new Promise((resolve) => setTimeout(resolve, stub.delayMs))
      // It is the cache before the Worker too, and takes every purge.
      response.statusCode = stub?.status ?? (request.method === 'PURGE' ? 200 : 404)
      for (const [name, value] of Object.entries(stub?.headers ?? {})) response.setHeader(name, value)
      response.end(stub?.body ?? '{}')
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  project.provide('originUrl', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return () => {
    server.closeAllConnections()
    server.close()
  }
}

async function text(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += chunk
  return body
}

declare module 'vitest' {
  interface ProvidedContext {
    originUrl: string
  }
}
