/** The shop's posts to waiting visitors: what is on top, all others, and a dialog to write one. */
import './announce.css'
import '../goods/goods.css'
import './feed.css'
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import { count } from '../../format.ts'
import { Failure, Loading, useTitle } from '../../parts.tsx'
import { may, shop } from '../../session.ts'
import { Dialog } from '../../sheet/dialog.tsx'
import { Icon } from '../../sheet/icon.tsx'
import { EmptyState, Head, Section } from '../../sheet/page.tsx'
import { asRequest, type Post, readPosts } from './feed-calls.ts'
import { PostList } from './post-list.tsx'
import { Write } from './write.tsx'

const REFRESH_MS = 5_000

export function FeedPage({ sale }: { sale: string }) {
  const { data, error } = useQuery({
    queryKey: ['feed', sale],
    queryFn: () => readPosts(sale),
    refetchInterval: REFRESH_MS,
  })
  const isOpen = useSignal(false)
  useTitle('Feed · Console')
  const posts = data?.posts ?? []
  const shown = posts.find((post) => post.shown)
  const write = may('operator') && (
    <button type="button" class="btn primary" aria-keyshortcuts="A" onClick={() => (isOpen.value = true)}>
      <Icon name="horn" />
      Write a post
    </button>
  )
  return (
    <>
      <Head title="Feed" sub="Open pages have a post within seconds. What is on top is on all pages of the sale.">
        {posts.length > 0 && write}
      </Head>
      <Failure error={error} />
      {!data && !error && <Loading />}
      {data && posts.length === 0 && (
        <EmptyState text="Nothing has been posted yet.">
          {write || <p class="small quiet">Operators write posts.</p>}
        </EmptyState>
      )}
      {posts.length > 0 && (
        <Section
          title="Posts"
          aside={
            <span class="row small quiet">
              {countsOf(posts)}
              {shop.value !== null && (
                <a href={`${shop.value}/sales/${sale}/posts`} target="_blank" rel="noreferrer">
                  As visitors see them
                </a>
              )}
            </span>
          }
        >
          <PostList sale={sale} posts={posts} />
        </Section>
      )}
      <Dialog
        title="Write a post"
        sub="Whoever waits reads it within seconds."
        broad
        isOpen={isOpen.value}
        onClose={() => (isOpen.value = false)}
      >
        <Write
          sale={sale}
          before={asRequest(shown?.level ? { ...shown, level: shown.level } : null)}
          startsIn="feed"
          onDone={() => (isOpen.value = false)}
        />
      </Dialog>
    </>
  )
}

function countsOf(posts: readonly Post[]): string {
  const gone = posts.filter(({ removed_at }) => removed_at !== null).length
  return `${count(posts.length - gone)}${gone > 0 ? `, ${count(gone)} retracted` : ''}`
}
