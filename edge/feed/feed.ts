/**
 * The shop's posts to waiting visitors. The newest posts are cached for seconds. A page by its number always has the
 * same ten posts, so it is cached for a minute once it is full. No cookie is read here.
 */
import type { FeedPage } from '../../shared/api/internal.ts'
import type { ChangedPost, Feed, Posts } from '../../shared/api/public.ts'
import { isFull, nextPollMs, POSTS_A_PAGE, pageOf, pageOfMissed } from '../../shared/feed.ts'
import { invalidField, ProblemError, problem } from '../../shared/problem.ts'
import { isFinal } from '../../shared/schedule.ts'
import { CACHE_TTL, cacheHeaders } from '../http/cache.ts'
import { type Call, etagOf, sendProblem, sendTagged } from '../http/call.ts'
import { limitAddress } from '../http/limits/rate-limits.ts'
import { postsShown } from '../pages/feed/posts-page.ts'
import { renderSale } from '../pages/index.ts'
import { publicNow } from '../queue/sale-now.ts'
import { headersOf, PAGE_HEADERS, viewOf } from '../view/respond.ts'
import { keepLanguage, sharedLanguage } from '../visitor/language.ts'
import { newestPosts, pageOfPosts } from './posts.ts'

const SINCE = /^\d{1,9}$/

/** The route `GET /sales/{sale}/feed`: the newest posts, or with `?since=12` the posts after number 12. */
export async function feed(sale: string, call: Call): Promise<Response> {
  limitAddress('feed', call.config.STATUS_PER_ADDRESS, call)
  const since = new URL(call.request.url).searchParams.get('since') ?? '0'
  if (!SINCE.test(since)) throw new ProblemError(invalidField('since', 'the number of a post is required'))
  const { schedule, atMs } = await publicNow(sale, call)
  const { copy, oldSinceMs } = await newestPosts(sale, call)
  const { posts } = copy
  const latestAtMs = posts[0] ? Date.parse(posts[0].at) : null
  const older = pageOfMissed(posts, Number(since))
  const changed = changesFor(Number(since), copy)
  const newest: Feed = {
    posts: posts.filter(({ n }) => n > Number(since)),
    ...(changed.length > 0 && { changed }),
    ...(older !== null && { older }),
    ...asOf(oldSinceMs),
    next_poll_ms: nextPollMs(latestAtMs, isFinal(schedule.phase), atMs),
  }
  return send(newest, cacheHeaders(sale, CACHE_TTL.feed), call)
}

/** The posts up to `since` that were edited or taken away, among the newest, the latest first. */
function changesFor(since: number, { posts, retracted = [] }: FeedPage): ChangedPost[] {
  const edited = posts.flatMap(({ n, text, edited_at }) =>
    n <= since && edited_at !== undefined ? [{ n, text, edited_at }] : [],
  )
  const gone = retracted.filter((n) => n <= since).map((n) => ({ n, retracted: true as const }))
  return [...edited, ...gone].toSorted((a, b) => b.n - a.n)
}

/** The route `GET /sales/{sale}/feed/{page}`; page 1 has the oldest posts. */
export async function feedPage(sale: string, page: number, call: Call): Promise<Response> {
  limitAddress('feed', call.config.STATUS_PER_ADDRESS, call)
  await publicNow(sale, call)
  const found = await pageOfPosts(sale, page, call)
  if (!found) return absent(sale, call)
  const { copy, oldSinceMs } = found
  // An old copy may have a post that was removed since.
  const isLasting = isFull(page, copy.latest) && oldSinceMs === null
  const headers = cacheHeaders(sale, isLasting ? CACHE_TTL.fullPage : CACHE_TTL.feed)
  return send({ posts: copy.posts, ...asOf(oldSinceMs) }, headers, call)
}

/**
 * The routes `GET /sales/{sale}/posts` and `/posts/{page}`: the same posts as a page, for browsers without a script.
 */
export async function postsPage(sale: string, page: number | null, call: Call): Promise<Response> {
  limitAddress('feed', call.config.STATUS_PER_ADDRESS, call)
  const now = await publicNow(sale, call)
  const found = page === null ? await newestPosts(sale, call) : await pageOfPosts(sale, page, call)
  if (!found) return absent(sale, call)
  keepLanguage(call)
  const posts = found.copy.posts.slice(0, POSTS_A_PAGE)
  const older = page === null ? pageOf((posts.at(-1)?.n ?? 1) - 1) : page - 1
  const shows = postsShown(sale, { posts, page, older })
  const view = await viewOf(now, null, shows, call, sharedLanguage(call))
  return new Response(renderSale(view), { headers: { ...headersOf(view), ...cacheHeaders(sale, CACHE_TTL.landing) } })
}

const asOf = (oldSinceMs: number | null) => oldSinceMs !== null && { as_of: new Date(oldSinceMs).toISOString() }

async function send(body: Posts | Feed, caching: Readonly<Record<string, string>>, call: Call): Promise<Response> {
  const text = JSON.stringify(body)
  const etag = await etagOf(new TextEncoder().encode(text))
  const headers = { 'content-type': 'application/json', etag, ...caching }
  return sendTagged(call.request, headers, () => text)
}

function absent(sale: string, call: Call): Response {
  const response = sendProblem(problem('not-found'), call)
  // Clients that accept HTML get the problem as a page.
  const caching = { ...cacheHeaders(sale, CACHE_TTL.feed), vary: PAGE_HEADERS.vary }
  for (const [name, value] of Object.entries(caching)) response.headers.set(name, value)
  return response
}
