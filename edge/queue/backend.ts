/** What other programs call: the origin, backends that check admissions, a health check. */
import { timingSafeEqual } from 'hono/utils/buffer'
import { edgeTokens, type StoredPlaces } from '../../shared/api/internal.ts'
import { purgeOwnCache } from '../http/cache.ts'
import { type Call, refuse, sendJson, sendNothing } from '../http/call.ts'
import { forgetPlaces, storedPlaces } from './numbers/stored-places.ts'
import { roomOf, withRetries } from './rpc.ts'
import { storeSnapshot } from './sale-cache.ts'
import { publicNow } from './sale-now.ts'

/** `POST /internal/sales/{queue}/refresh`: the origin says that something has changed for a line of a sale. */
export async function refresh(queue: string, call: Call): Promise<Response> {
  const { env, nowMs } = call
  await requireEdgeToken(call)
  const response = await withRetries(() => roomOf(queue, env).refresh(queue))
  if (response?.known === false && response.reason === 'unknown-sale') refuse('unknown-sale')
  if (!response?.known) return refuse('try-again', { retry_after_seconds: 1 })
  storeSnapshot(queue, response.snapshot, nowMs)
  return sendNothing()
}

/** `POST /internal/sales/{sale}/purge`: the waiting room says that what caches keep of the sale is out of date. */
export async function purge(sale: string, call: Call): Promise<Response> {
  await requireEdgeToken(call)
  return (await purgeOwnCache(sale, call)) ? sendNothing() : refuse('try-again', { retry_after_seconds: 1 })
}

/** `GET /internal/sales/{sale}/visitors/{visitor}`: what the ticket shards store of a visitor. */
export async function showPlaces(sale: string, visitor: string, call: Call): Promise<Response> {
  await requireEdgeToken(call)
  const places = await storedPlaces(await publicNow(sale, call), visitor, call)
  return places ? sendJson({ places } satisfies StoredPlaces) : refuse('try-again', { retry_after_seconds: 1 })
}

/** `DELETE /internal/sales/{sale}/visitors/{visitor}`: the visitor asks to be forgotten. */
export async function deletePlaces(sale: string, visitor: string, call: Call): Promise<Response> {
  await requireEdgeToken(call)
  const isDone = await forgetPlaces(await publicNow(sale, call), visitor, call)
  return isDone ? sendNothing() : refuse('try-again', { retry_after_seconds: 1 })
}

/** For calls of the origin. */
export async function requireEdgeToken({ request, config }: Call): Promise<void> {
  const sent = request.headers.get('authorization') ?? ''
  for (const token of edgeTokens(config)) if (await timingSafeEqual(sent, `Bearer ${token}`)) return
  refuse('unauthorized')
}

const KEYS_HEADERS = { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' }

/** `GET /.well-known/jwks.json`: public keys of admissions. */
export const jwks = ({ config }: Call) => new Response(config.keys.jwks, { headers: KEYS_HEADERS })

/** `GET /.well-known/handover-keys.json`: those of orders that are handed over. */
export const handoverJwks = ({ config }: Call) => new Response(config.keys.handoverJwks, { headers: KEYS_HEADERS })

/** `GET /healthz`, with the id of the key that signs admissions: it shows a rotation, and identifies this edge. */
export const health = ({ config }: Call) => sendJson({ status: 'ok', kid: config.keys.kid })
