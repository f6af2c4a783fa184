/**
 * The calls of a shop's operators: the integration configuration, which says which pages wait in which room, is pulled
 * and pushed; and an address opens the connector's diagnostics.
 */
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { timingSafeEqual } from 'hono/utils/buffer'
import { hmacHex } from '../../shared/lib/hash.ts'
import { type Call, hostOf, refuse, sendJson, sendNothing } from '../http/call.ts'
import { limitAddress } from '../http/limits/rate-limits.ts'
import type { QueueItCustomer } from '../http/queue-it-setting.ts'
import { debugToken } from './onwards.ts'
import { withToken } from './target.ts'
import { customerOf, requestedTarget } from './visit.ts'

const PUSH_TIMEOUT_MS = 5_000

/** The route `GET /status/integrationconfig/secure/{customer}`, with the header `api-key`. */
export function pullIntegration(name: string, call: Call): Promise<Response> | null {
  const customer = customerOf(name, call)
  return customer && requireKey(customer, call).then(() => sendJson(integrationOf(customer, call)))
}

/** The route `POST /q/{customer}/push`, with the header `api-key`: sends the configuration to the shop, signed. */
export function pushIntegration(name: string, call: Call): Promise<Response> | null {
  const customer = customerOf(name, call)
  return customer && push(customer, call)
}

async function push(customer: QueueItCustomer, call: Call): Promise<Response> {
  await requireKey(customer, call)
  const { push_url = refuse('not-found'), secret } = customer
  const integrationInfo = bytesToHex(utf8ToBytes(JSON.stringify(integrationOf(customer, call))))
  try {
    const response = await fetch(push_url, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ integrationInfo, hash: hmacHex(secret, integrationInfo) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(PUSH_TIMEOUT_MS),
    })
    await response.body?.cancel()
    if (response.ok) return sendNothing()
    throw new Error(`status ${response.status}`)
  } catch (error) {
    console.warn(JSON.stringify({ msg: 'integration push failed', customer: customer.customer, why: String(error) }))
    return refuse('try-again', { detail: 'The shop did not take the configuration.', retry_after_seconds: 5 })
  }
}

/** The route `GET /q/{customer}/debug?t=`, with the header `api-key`: the address of a page with its diagnostics. */
export function debugAddress(name: string, call: Call): Promise<Response> | null {
  const customer = customerOf(name, call)
  return customer && requireKey(customer, call).then(() => sendJson({ url: debugPage(customer, call) }))
}

function debugPage(customer: QueueItCustomer, call: Call): string {
  const target = requestedTarget(new URL(call.request.url).searchParams.get('t'), customer, call)
  return withToken(target, debugToken(customer, call))
}

async function requireKey({ api_key }: QueueItCustomer, call: Call): Promise<void> {
  limitAddress('integration', call.config.STATUS_PER_ADDRESS, call)
  const sent = call.request.headers.get('api-key') ?? ''
  if (api_key === undefined || !(await timingSafeEqual(sent, api_key)))
    refuse('unauthorized', { detail: 'Send the header api-key with the key of this customer.' })
}

/** The shop's configuration, in which all rooms are this one. */
function integrationOf({ customer, integration }: QueueItCustomer, call: Call): object {
  if (!integration) return refuse('not-found')
  // Connectors of version 3 know no prefix, so the domain has the path, which all write behind `https://`.
  const room = { QueueDomain: `${new URL(hostOf(call)).host}/q/${customer}`, QueuePathPrefix: null }
  return { ...integration, Integrations: integration.Integrations.map((one) => ({ ...one, ...room })) }
}
