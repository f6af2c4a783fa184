/** What an operator does with the posts of a sale. Each change reports its result and how to undo it. */
import type { AnnouncementRequest, PostChange, PostRequest } from '../../../../../shared/api/operators/requests.ts'
import { admin, read } from '../../api.ts'
import { time } from '../../format.ts'
import type { Done } from '../../toast.tsx'

const calls = admin.sales[':sale']

export const readPosts = (sale: string) => read(calls.feed.$get({ param: { sale } }))
export type Post = Awaited<ReturnType<typeof readPosts>>['posts'][number]
type Text = PostRequest['text']

/** The text in the operators' language, or the first that there is. */
export const textOf = ({ text }: Pick<Post, 'text'>) => text.en ?? Object.values(text)[0] ?? ''

/** `before` is the announcement that visitors read until now. */
export async function announce(
  sale: string,
  announcement: AnnouncementRequest | null,
  before: AnnouncementRequest | null,
): Promise<Done> {
  const param = { sale }
  if (announcement === null) await calls.announcement.$delete({ param })
  else await calls.announcement.$put({ param, json: announcement })
  const until = announcement?.until === undefined ? '' : ` until ${time(announcement.until)}`
  const text =
    announcement === null ? 'Visitors no longer see the announcement.' : `Visitors read the announcement${until}.`
  return { text, undo: () => announce(sale, before, announcement) }
}

export async function publish(sale: string, json: PostRequest): Promise<Done> {
  const { n } = await read(calls.feed.$post({ param: { sale }, json }))
  return { text: 'The post is in the feed.', undo: () => retract(sale, n) }
}

export async function retract(sale: string, n: number): Promise<Done> {
  await calls.feed[':n'].$delete({ param: { sale, n: String(n) } })
  return { text: 'The post is retracted. Who has read it has read it.' }
}

/** Changes a post; the undoing sets back what the change says. */
export async function edit(sale: string, post: Post, change: PostChange): Promise<Done> {
  await calls.feed[':n'].$patch({ param: { sale, n: String(post.n) }, json: change })
  const back: PostChange = {
    ...(change.text !== undefined && { text: post.text as Text }),
    ...(change.image !== undefined && { image: post.image ?? null }),
    ...(change.urgent !== undefined && { urgent: post.shown }),
    ...((change.urgent === false || change.until !== undefined) && post.shown && { until: futureOf(post.until) }),
  }
  const text = change.urgent === false ? 'The post is off the top. It stays in the feed.' : 'The post is changed.'
  return { text, undo: () => edit(sale, { ...post, ...changed(post, change) }, back) }
}

const futureOf = (until: string | null) => (until !== null && Date.parse(until) > Date.now() ? until : null)

const changed = (post: Post, { text, image, urgent, until }: PostChange): Partial<Post> => ({
  ...(text && { text }),
  ...(image && { image: image as NonNullable<Post['image']> }),
  shown: urgent ?? post.shown,
  until: until === undefined ? post.until : until,
})

/** What the visitors of a sale read now, as it would be announced again. */
export const asRequest = (
  shown: {
    readonly level: 'info' | 'warning'
    readonly text: object
    readonly until?: string | null | undefined
  } | null,
): AnnouncementRequest | null =>
  shown && {
    level: shown.level,
    text: shown.text as Text,
    ...(shown.until && Date.parse(shown.until) > Date.now() && { until: shown.until }),
  }
