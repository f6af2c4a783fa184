/**
 * Visitors who come by the shop front: they load it and search there for the sale. A third of them type with the
 * page's script, which searches an index; a third with a script whose index does not load, so that the edge completes
 * and searches; and a third without a script. While they wait, the page's script reads the sale's posts.
 */
import type { Feed } from '../../shared/api/public.ts'
import { pageOf } from '../../shared/feed.ts'
import type { Answer } from '../lib/http.ts'
import type { Crowd } from './crowd.ts'
import type { Visitor } from './visitors/visitors.ts'

const HTML = 'text/html'
const JSON_TYPE = 'application/json'
/** The value is the same as in edge/client/front/search-box.ts. */
const MAX_HITS = 6
const SOUGHT = 'rehearsal'
/** The numbers of letters at which a visitor pauses long enough that the script sends a request. */
const PAUSES = [3, 6]
/** The number of reads of the feed is limited. */
const MAX_FEED_READS = 5
/** The value is the same as in edge/client/extras/posts.ts. */
const FEED_AGAIN_MS = 10_000
const FEED_SPREAD = 0.25

interface FrontRequest {
  readonly kind: 'front' | 'search'
  readonly path: string
  readonly accept: string
}

export function comeByFront(crowd: Crowd, visitor: Visitor, intendedMs: number): void {
  sendRequest(crowd, visitor, intendedMs, { kind: 'front', path: '/', accept: HTML }, ({ body, answeredMs }) =>
    search(crowd, visitor, answeredMs, searchesOf(body, visitor.id, crowd.options.random)),
  )
}

/** Sends one request after the other, followed by the sale's page. */
function search(crowd: Crowd, visitor: Visitor, intendedMs: number, [next, ...others]: readonly FrontRequest[]): void {
  if (next)
    sendRequest(crowd, visitor, intendedMs, next, ({ answeredMs }) => search(crowd, visitor, answeredMs, others))
  else {
    crowd.go(visitor, 'arrive')
    crowd.at(visitor, intendedMs + crowd.think())
  }
}

function sendRequest(
  crowd: Crowd,
  visitor: Visitor,
  intendedMs: number,
  { kind, path, accept }: FrontRequest,
  served: (answer: Answer) => void,
): void {
  crowd.send(visitor, kind, crowd.requests.shop(visitor, path, accept), intendedMs, (answer) =>
    answer.status === 200 ? served(answer) : crowd.again(visitor, kind, answer),
  )
}

/** The requests of a visitor's search, made from the front's page. */
function searchesOf(front: string, visitor: number, random: () => number): FrontRequest[] {
  const indexPath = / data-index="([^"]+)"/.exec(front)?.[1]
  const typed = misspelt(SOUGHT, random)
  const ofText = (q: string) => `/search?q=${q}`
  if (visitor % 3 === 0) return [{ kind: 'search', path: ofText(typed), accept: HTML }]
  if (visitor % 3 === 1 && indexPath !== undefined) return [{ kind: 'front', path: indexPath, accept: JSON_TYPE }]
  return PAUSES.flatMap((letters): FrontRequest[] => [
    { kind: 'front', path: `/search/suggest?q=${SOUGHT.slice(0, letters)}`, accept: JSON_TYPE },
    { kind: 'search', path: `${ofText(typed.slice(0, letters))}&limit=${MAX_HITS}`, accept: JSON_TYPE },
  ])
}

/** Replaces one letter by another. */
function misspelt(word: string, random: () => number): string {
  const at = Math.floor(random() * word.length)
  const letter = String.fromCharCode(97 + Math.floor(random() * 26))
  return word.slice(0, at) + letter + word.slice(at + 1)
}

/**
 * Reads the newest posts if it is time, independently of the visitor's other steps. After the first read it also
 * reads the page before them.
 */
export function readFeed(crowd: Crowd, visitor: Visitor, nowMs: number): void {
  if (nowMs < visitor.feedAtMs || visitor.feedReads === MAX_FEED_READS) return
  // No other read starts until there is a response.
  visitor.feedAtMs = Number.POSITIVE_INFINITY
  readPosts(crowd, visitor, '', ({ status, body, answeredMs }) => {
    const { posts, next_poll_ms }: Feed = status === 200 ? JSON.parse(body) : { posts: [], next_poll_ms: FEED_AGAIN_MS }
    visitor.feedAtMs = answeredMs + next_poll_ms * (1 + FEED_SPREAD * crowd.options.random())
    const older = pageOf((posts.at(-1)?.n ?? 1) - 1)
    if (visitor.feedReads++ === 0 && older > 0) readPosts(crowd, visitor, `/${older}`)
  })
}

function readPosts(crowd: Crowd, visitor: Visitor, page: string, read: (answer: Answer) => void = () => {}): void {
  const text = crowd.requests.shop(visitor, `/sales/${crowd.options.sale}/feed${page}`, JSON_TYPE)
  const meantMs = performance.now()
  crowd.sendBeside('feed', text, (answer) => {
    crowd.tally.refused('feed', answer)
    crowd.tally.latency.feed.add(answer.answeredMs - meantMs)
    read(answer)
  })
}
