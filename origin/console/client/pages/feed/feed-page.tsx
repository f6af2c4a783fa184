/** The shop's posts to waiting visitors: write a post, list all, and remove one. */
import '../goods/goods.css'
import './feed.css'
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import type { PostRequest } from '../../../../../shared/api/operators/requests.ts'
import { admin, read } from '../../api.ts'
import { Confirm, Failure, instant, Loading, textIn, useSubmit, useTitle } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Head } from '../../sheet/page.tsx'
import { shownAt } from '../../sheet/picture.tsx'
import type { Done } from '../../toast.tsx'
import { AddPicture } from '../goods/picture-fields.tsx'
import { Words } from '../sale/sides.tsx'
import { Texts, textsIn } from '../sale/texts.tsx'

const REFRESH_MS = 5_000

const calls = admin.sales[':sale'].feed
const readPosts = (sale: string) => read(calls.$get({ param: { sale } }))
type Post = Awaited<ReturnType<typeof readPosts>>['posts'][number]

export function FeedPage({ sale }: { sale: string }) {
  const { data, error } = useQuery({
    queryKey: ['feed', sale],
    queryFn: () => readPosts(sale),
    refetchInterval: REFRESH_MS,
  })
  useTitle('Feed · Console')
  const [posts, removed] = [
    data?.posts.filter(({ removed_at }) => removed_at === null) ?? [],
    data?.posts.filter(({ removed_at }) => removed_at !== null) ?? [],
  ]
  return (
    <>
      <Head
        title="Feed"
        sub={
          'What the shop says to those who wait. Open pages have a post within seconds; an urgent one is on all ' +
          'pages of the sale until the next, or until it is taken away.'
        }
      />
      <Failure error={error} />
      {!data && !error && <Loading />}
      {may('operator') && data && <NewPost sale={sale} />}
      {data && (
        <section class="sec" aria-label="Posts">
          <h2>Posts</h2>
          {posts.length === 0 && <p class="quiet">There are none.</p>}
          <ul class="actions">
            {posts.map((post) => (
              <PostItem key={post.n} sale={sale} post={post} />
            ))}
          </ul>
        </section>
      )}
      {removed.length > 0 && (
        <section class="sec" aria-label="Taken away">
          <h2>Taken away</h2>
          <ul class="actions">
            {removed.map((post) => (
              <PostItem key={post.n} sale={sale} post={post} />
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function PostItem({
  sale,
  post: { n, at, urgent, text, image, operator, shown, removed_at },
}: {
  sale: string
  post: Post
}) {
  const state =
    removed_at !== null ? `taken away ${instant(removed_at)}` : shown ? 'on all pages now' : urgent && 'urgent'
  return (
    <li>
      <div class="first">
        <div>
          <Words title={`${n}, ${instant(at)}`} text={text} />
          <p class="quiet">
            by {operator}
            {state && `, ${state}`}
          </p>
          {image && <img class="single" src={shownAt(image.url)} alt={image.alt} />}
        </div>
        {may('operator') && removed_at === null && (
          <Confirm
            action="Take away"
            name={`Take post ${n} away`}
            effect={
              'It is gone from the feed within seconds, from older pages within a minute. Who has read it has ' +
              'read it. Undo: write it again.'
            }
            onConfirm={async () => {
              await calls[':n'].$delete({ param: { sale, n: String(n) } })
              return { text: `Post ${n} is taken away.` }
            }}
          />
        )}
      </div>
    </li>
  )
}

function NewPost({ sale }: { sale: string }) {
  const picture = useSignal<string | null>(null)
  const publish = async (form: FormData): Promise<Done> => {
    const image = picture.value === null ? {} : { image: { url: picture.value, alt: textIn(form, 'alt') } }
    const json = { text: textsIn(form) as PostRequest['text'], urgent: form.get('urgent') === 'on', ...image }
    await calls.$post({ param: { sale }, json })
    return { text: 'The post is published.' }
  }
  const { onSubmit, error, isPending } = useSubmit(publish, (form) => {
    form.reset()
    picture.value = null
  })
  return (
    <section class="sec" aria-label="A new post">
      <h2>A new post</h2>
      <form class="schedule" onSubmit={onSubmit}>
        <Texts legend="Text" />
        {picture.value === null ? (
          <AddPicture label="A picture, if you like" onPicture={(url) => (picture.value = url)} />
        ) : (
          <div class="form-field">
            <img class="single" src={shownAt(picture.value)} alt="" />
            <label>
              What it shows
              <input name="alt" maxLength={200} required />
            </label>
            <button type="button" class="link" onClick={() => (picture.value = null)}>
              Remove the picture
            </button>
          </div>
        )}
        <label class="check">
          <input type="checkbox" name="urgent" /> Urgent: on all pages of the sale at once
        </label>
        <Failure error={error} />
        <p class="buttons">
          <button type="submit" class="primary" disabled={isPending}>
            Publish
          </button>
        </p>
      </form>
    </section>
  )
}
