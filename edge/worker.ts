/**
 * The Worker: every request to the edge comes in here, is handled by its route (routes.ts), and leaves with its cache
 * rule.
 */

import { watchAssertions } from '../shared/lib/assert.ts'
import { type Problem, ProblemError, problem, REQUEST_ID_HEADER } from '../shared/problem.ts'
import { postsPart } from './feed/posts.ts'
import { withCacheRule } from './http/cache.ts'
import {
  type Call,
  type Onwards,
  type PagePart,
  pathOf,
  refuse,
  requestIdOf,
  seeOther,
  sendProblem,
  wantsHtml,
} from './http/call.ts'
import { type Config, ConfigError, type Env, readConfig } from './http/config.ts'
import { allowNamedOrigin } from './http/cors.ts'
import { drawTrace, endTrace } from './http/trace.ts'
import { protectedSite } from './protect/protect.ts'
import { toShop } from './queue-it/onwards.ts'
import { handle } from './routes.ts'
import { problemAsPage } from './view/respond.ts'
import { keepInRedirect } from './visitor/language.ts'

export { TicketShard } from './queue/numbers/ticket-shard.ts'
export { WaitingRoom } from './queue/waiting-room.ts'

/** The sections that features add to the pages of a sale. */
const PAGE_PARTS: readonly PagePart[] = [postsPart]
/** The sites of others to which features lead admitted visitors. */
const ONWARDS: readonly Onwards[] = [toShop]

// Objects log theirs here too: their callers hear only that a call has failed.
watchAssertions(({ message }) => console.error(JSON.stringify({ msg: 'assertion failed', why: message })))

/** Read once per isolate: plain values, so that every request may use them. */
const configs = new WeakMap<Env, Config>()

export default {
  async fetch(request, env, ctx): Promise<Response> {
    const requestId = requestIdOf(request)
    let config: Config
    try {
      config = configs.get(env) ?? (await readConfig(env))
      configs.set(env, config)
    } catch (error) {
      return named(sendProblem(problemOf(error, { request, requestId }), { requestId }), requestId)
    }
    const secure = config.production || request.url.startsWith('https:')
    const features = { pageParts: PAGE_PARTS, onwards: ONWARDS }
    const nowMs = Date.now()
    const trace = drawTrace(request, config)
    const call: Call = { request, requestId, env, ctx, config, secure, nowMs, setCookies: [], trace, ...features }
    const response = await respond(call)
    endTrace(call, response)
    for (const cookie of call.setCookies) response.headers.append('set-cookie', cookie)
    return named(response, requestId)
  },
} satisfies ExportedHandler<Env>

/** Longest path, in characters, of ours and of a site behind this Worker. */
const MAX_PATH = 2_048

async function respond(call: Call): Promise<Response> {
  try {
    if (pathOf(call.request.url).length > MAX_PATH) refuse('headers-too-large')
    const ours = onLoopback(call) ?? handle(call)
    if (ours) return await sent(await ours, call)
    // The responses of a site behind this Worker are passed on as they are.
    return await (protectedSite(call) ?? refuse('not-found'))
  } catch (error) {
    return sent(sendProblem(problemOf(error, call), call), call)
  }
}

/**
 * During development a page at `localhost` redirects to 127.0.0.1, which is the address of every other part, because
 * a buyer who returns there from the bank would have left their cookies at the other name.
 */
function onLoopback({ request, config }: Call): Response | null {
  const { method, url } = request
  if (config.production || method !== 'GET' || !wantsHtml(request) || !LOCALHOST.test(url)) return null
  return seeOther(url.replace(LOCALHOST, 'http://127.0.0.1'))
}
const LOCALHOST = /^http:\/\/localhost(?=[:/])/

/** Browsers that have been here over https come back over nothing else for so long. */
const HSTS = 'max-age=31536000'

/** A response of ours as it leaves. */
async function sent(response: Response, call: Call): Promise<Response> {
  const ruled = withCacheRule(await problemAsPage(response, call), call)
  allowNamedOrigin(ruled, call)
  keepInRedirect(ruled, call)
  if (call.config.production) ruled.headers.set('strict-transport-security', HSTS)
  return ruled
}

/** The response with the name of its request. A WebSocket has no headers to change. */
function named(response: Response, requestId: string): Response {
  if (response.status !== 101) response.headers.set(REQUEST_ID_HEADER, requestId)
  return response
}

function problemOf(error: unknown, { request, requestId }: Pick<Call, 'request' | 'requestId'>): Problem {
  if (error instanceof ProblemError) return error.problem
  // The Host header is not a host's name, which Cloudflare does not let through.
  if (!URL.canParse(request.url)) return problem('invalid-request')
  console.error(JSON.stringify({ msg: 'request failed', request: requestId, why: String(error) }))
  if (error instanceof ConfigError) return problem('try-again', { retry_after_seconds: 60 })
  return problem('internal-error', { detail: 'You keep your place.', retry_after_seconds: 2 })
}
