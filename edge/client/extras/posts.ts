/**
 * Reads the shop's posts as often as the server says while the page is visible, and when the schedule announces new
 * ones. A screen reader reads new posts, except urgent ones, which it has read as announcements.
 */
import type { Image } from '../../../shared/api/goods.ts'
import type { Feed, Post, Posts, Schedule } from '../../../shared/api/public.ts'
import { POSTS_A_PAGE, pageOf } from '../../../shared/feed.ts'
import { POST_PICTURE, postPart } from '../../pages/feed/feed-section.ts'
import type { Tag } from '../../pages/html.ts'
import type { Around } from '../../pages/parts/announcement.ts'
import { fileSet, middleFile } from '../../pages/parts/picture.ts'
import { byId, elementOf, get, type Page, show } from '../page.ts'
import { timeText } from './announcement.ts'

/** The pause after a failed read, in milliseconds. */
const AGAIN_MS = 10_000
/** After a change the read waits this long, so that no cache has an older copy. */
const CHANGED_MS = 3_000
/** The pause before the next read varies by this share, so that visitors who came together do not read together. */
const SPREAD = 0.25

let posts: readonly Post[] | null = null
let version: number | null = null
let readAtMs = 0
let isReading = false

const inMs = (ms: number) => performance.now() + ms * (1 + SPREAD * Math.random())

export function showFeed({ feed_version }: Schedule, page: Page): void {
  if (version !== null && version !== feed_version) readAtMs = Math.min(readAtMs, inMs(CHANGED_MS))
  version = feed_version
  const list = byId('posts')
  if (!list) return
  // The content of the page was replaced, so the posts are filled in again.
  if (posts && list.dataset.older === undefined) fill(list, posts, page)
  if (!isReading && document.visibilityState === 'visible' && performance.now() >= readAtMs) void read(page)
}

async function read(page: Page): Promise<void> {
  isReading = true
  const of = version
  readAtMs = performance.now() + AGAIN_MS
  try {
    const response = await get(`/sales/${page.sale}/feed`)
    if (response.ok) {
      const feed: Feed = await response.json()
      if (of === version) readAtMs = inMs(feed.next_poll_ms)
      posts = feed.posts
      const list = byId('posts')
      if (list) fill(list, posts, page)
    }
  } catch {
    // The next read comes later.
  }
  isReading = false
}

const numberOf = (item: Element) => Number((item as HTMLElement).dataset.n)

/** Shows the newest posts: adds new ones, replaces those that were edited, and removes those that were taken away. */
function fill(list: HTMLElement, newest: readonly Post[], page: Page): void {
  const isFirst = list.dataset.older === undefined
  if (!isFirst) list.setAttribute('aria-live', 'polite')
  const numbers = newest.map(({ n }) => n)
  const oldest = numbers.at(-1) ?? 0
  for (const item of [...list.children]) {
    if (numberOf(item) >= oldest && !numbers.includes(numberOf(item))) item.remove()
    const edited = newest.find(({ n, edited_at }) => n === numberOf(item) && edited_at !== undefined)
    if (edited && edited.edited_at !== (item as HTMLElement).dataset.at) item.replaceWith(itemOf(edited, page))
  }
  // If there were more new posts than these while the page was hidden, there is a gap, and the list starts again.
  const isApart = list.firstElementChild !== null && numberOf(list.firstElementChild) < oldest
  if (isApart) list.replaceChildren()
  const last = list.lastElementChild
  // A list that starts here has one page; a list that goes on has all that is newer than its oldest post.
  const shown = last ? newest.filter(({ n }) => n > numberOf(last)) : newest.slice(0, POSTS_A_PAGE)
  for (const post of shown) add(list, post, page, isFirst || isApart)
  if (isFirst || isApart) list.dataset.older = `${pageOf((shown.at(-1)?.n ?? 1) - 1)}`
  show(byId('feed'), list.children.length > 0)
  offerOlder(list, page)
}

/** Inserts a post in its place, the latest first. `isOld` means that it is not announced to screen readers. */
function add(list: HTMLElement, post: Post, page: Page, isOld: boolean): void {
  const { n, urgent } = post
  const items = [...list.children]
  if (items.some((item) => numberOf(item) === n)) return
  const item = itemOf(post, page)
  if (isOld || urgent) item.setAttribute('aria-live', 'off')
  list.insertBefore(item, items.find((one) => numberOf(one) < n) ?? null)
}

function itemOf(post: Post, page: Page): HTMLElement {
  const { urgent = '', edited = '' } = byId('feed')?.dataset ?? {}
  const around: Around = [page.lang, urgent, timeText(page, post.at)]
  return elementOf(postPart(post, around, edited, post.image && pictureOf(post.image)))
}

const pictureOf = (image: Image): Tag => [
  'img',
  {
    alt: image.alt,
    width: image.width ?? 0,
    height: image.height ?? 0,
    src: middleFile(image),
    srcset: fileSet(image, 'webp'),
    sizes: POST_PICTURE,
    loading: 'lazy',
  },
]

function offerOlder(list: HTMLElement, page: Page): void {
  const link = byId('older-posts') as HTMLAnchorElement | null
  if (!link) return
  const older = Number(list.dataset.older)
  show(link.parentElement, older > 0)
  // There is no page 0.
  if (older) link.href = `/sales/${page.sale}/posts/${older}${location.search}`
  link.onclick = (event) => {
    event.preventDefault()
    void addOlder(list, older, page)
  }
}

async function addOlder(list: HTMLElement, older: number, page: Page): Promise<void> {
  const response = await get(`/sales/${page.sale}/feed/${older}`).catch(() => null)
  // If the read fails, the visitor can press the button again.
  if (!response?.ok || list.dataset.older !== `${older}`) return
  const found: Posts = await response.json()
  const known = list.children.length
  for (const post of found.posts) add(list, post, page, true)
  list.dataset.older = `${older - 1}`
  offerOlder(list, page)
  const first = list.children[known] as HTMLElement | undefined
  first?.focus()
}
