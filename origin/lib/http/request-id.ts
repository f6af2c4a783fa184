/**
 * Names requests: the id in a request's response, in its problem and in each line that it logs, from its arrival on
 * through all that it awaits. Calls that travel as one batch are named together (`asBatchOf`).
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import { REQUEST_ID_HEADER } from '../../../shared/problem.ts'

/** The ids of the edge: UUIDs, and Cloudflare's rays. */
const FORM = /^[\w-]{16,40}$/

/** The request that is served, or those of the batch. */
const current = new AsyncLocalStorage<string | readonly string[]>()

/** Serves each request under an id, which is the caller's only if the caller is trusted. */
export function withRequestId(
  serve: RequestListener,
  isTrusted: (request: IncomingMessage) => boolean,
): RequestListener {
  return (request, response) => {
    const sent = request.headers[REQUEST_ID_HEADER]
    const isTaken = typeof sent === 'string' && FORM.test(sent) && isTrusted(request)
    const id = isTaken ? sent : randomUUID()
    response.setHeader(REQUEST_ID_HEADER, id)
    current.run(id, serve, request, response)
  }
}

/** The id of the request that is served; undefined for work of the process's own, and for a batch. */
export function requestId(): string | undefined {
  const id = current.getStore()
  return typeof id === 'string' ? id : undefined
}

/** The ids of what is served, none for work of the process's own. */
export function requestIds(): readonly string[] {
  const ids = current.getStore() ?? []
  return typeof ids === 'string' ? [ids] : ids
}

/** Does the work of several requests at once: what it logs has the ids of all. */
export const asBatchOf = <T>(ids: readonly string[], work: () => T): T => current.run(ids, work)

/** The field of a log line that names its request, or those of its batch. */
export function requestInLog(): { readonly request?: string; readonly requests?: readonly string[] } {
  const ids = current.getStore() ?? []
  if (typeof ids === 'string') return { request: ids }
  return ids.length === 0 ? {} : { requests: ids }
}
