/** The posts of a sale in this isolate: the newest, and pages by number. */
import { FeedPage } from '../../shared/api/internal.ts'
import type { Post } from '../../shared/api/public.ts'
import { POSTS_A_PAGE, pageOf } from '../../shared/feed.ts'
import { tryParse } from '../../shared/parse.ts'
import { type Call, type PagePart, refuse } from '../http/call.ts'
import { type AgedCopy, Copies } from '../http/copies.ts'
import { callInternal } from '../http/origin.ts'
import { feedSection } from '../pages/feed/feed-section.ts'
import type { Section } from '../pages/view.ts'

const pages = new Copies<FeedPage>({ max: 1_000, freshMs: 1_000, waitMs: 2_000 })

/** A page of a sale waits for at most this long; its script reads missing posts later. */
const WAIT_MS = 300

export const newestPosts = (sale: string, call: Call) => read(sale, null, call)

/** Returns null for a page that does not exist. The origin is not called for pages beyond the newest. */
export async function pageOfPosts(sale: string, page: number, call: Call): Promise<AgedCopy<FeedPage> | null> {
  const { latest } = (await newestPosts(sale, call)).copy
  return page > Math.max(1, pageOf(latest)) ? null : read(sale, page, call)
}

/** The newest posts for a page that shows them; none while they cannot be read, and on a page that lasts. */
export const postsPart: PagePart = (sale, { kind }, call) => {
  if (kind === 'final') return withPosts(NO_POSTS)
  if (kind !== 'landing' && kind !== 'line') return undefined
  const known = pages.known(keyOf(sale, null))
  if (known) return withPosts(known.posts)
  const posts = newestPosts(sale, call).then(
    ({ copy }) => copy.posts,
    () => NO_POSTS,
  )
  return Promise.race([posts, scheduler.wait(WAIT_MS).then(() => NO_POSTS)]).then(withPosts)
}

const NO_POSTS: readonly Post[] = []
const sections = new WeakMap<readonly Post[], Section>()

/** The section with these posts: the same function for the same list, so that parts made from it are reused. */
function withPosts(posts: readonly Post[]): Section {
  const known = sections.get(posts)
  if (known) return known
  const section: Section = (context) => feedSection(context, posts.slice(0, POSTS_A_PAGE))
  sections.set(posts, section)
  return section
}

const keyOf = (sale: string, page: number | null) => `${sale} ${page}`

const read = (sale: string, page: number | null, call: Call) =>
  pages.freshOrOld(keyOf(sale, page), async () => {
    const query = page === null ? '' : `?page=${page}`
    const response = await callInternal(`/sales/${sale}/feed${query}`, call)
    if (response.status === 404) refuse('not-found')
    const found = response.ok ? tryParse(FeedPage, await response.json()) : null
    return found ?? refuse('try-again', { retry_after_seconds: 2 })
  })
