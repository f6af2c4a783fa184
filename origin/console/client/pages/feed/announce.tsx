/** The buttons that announce something in a sale, in the head and beside what visitors read, with their dialog. */
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import { count } from '../../format.ts'
import { Confirm } from '../../parts.tsx'
import { may, shop } from '../../session.ts'
import { Dialog, Effects } from '../../sheet/dialog.tsx'
import { Icon } from '../../sheet/icon.tsx'
import type { NoticeControl } from '../sale/controls.tsx'
import { announce, asRequest, readPosts } from './feed-calls.ts'
import { PostList } from './post-list.tsx'
import { Write } from './write.tsx'
import './announce.css'

export const AnnounceButtons: NoticeControl = ({ state, place, waiting }) => {
  const isOpen = useSignal(false)
  const { announcement } = state
  if (!may('operator')) return null
  const inHead = place === 'head'
  return (
    <>
      {(inHead || announcement === null) && (
        <button
          type="button"
          class={inHead ? 'btn' : 'btn bare'}
          aria-keyshortcuts={inHead ? 'A' : undefined}
          onClick={() => (isOpen.value = true)}
        >
          <Icon name="horn" />
          {inHead ? 'Announce' : 'Write something'}
        </button>
      )}
      {!inHead && announcement && (
        <>
          <button type="button" class="btn bare" onClick={() => (isOpen.value = true)}>
            <Icon name="horn" />
            Change
          </button>
          <Confirm
            action="Take it away"
            icon="undo"
            look="bare"
            effect={
              <Effects
                effects={{
                  stops: 'visitors no longer see the announcement',
                  isKept: 'it stays in the feed',
                  undo: 'announce it again',
                }}
              />
            }
            onConfirm={() => announce(state.sale, null, asRequest(announcement))}
          />
        </>
      )}
      <Dialog
        title={`Announce in ${state.name}`}
        sub={waiting === null ? 'Whoever waits reads it within three seconds.' : audienceOf(waiting)}
        broad
        isOpen={isOpen.value}
        onClose={() => (isOpen.value = false)}
      >
        <Write
          sale={state.sale}
          before={asRequest(announcement)}
          beside={<Before sale={state.sale} />}
          onDone={() => (isOpen.value = false)}
        />
      </Dialog>
    </>
  )
}

const audienceOf = (waiting: number) =>
  waiting === 0
    ? 'Nobody waits now; whoever comes reads it.'
    : `${count(waiting)} who wait read it within three seconds.`

const REFRESH_MS = 5_000
const SHOWN = 5

/** The earlier posts and announcements, so that nothing is said twice. */
function Before({ sale }: { readonly sale: string }) {
  const { data } = useQuery({
    queryKey: ['feed', sale],
    queryFn: () => readPosts(sale),
    refetchInterval: REFRESH_MS,
  })
  const posts = data?.posts ?? []
  return (
    <section class="read-before stack close" aria-label="Posts">
      <p class="row small">
        <b>Posts</b>
        <span class="quiet">{count(posts.length)}</span>
        {shop.value !== null && (
          <a class="end" href={`${shop.value}/sales/${sale}/posts`} target="_blank" rel="noreferrer">
            As visitors see them
          </a>
        )}
      </p>
      <PostList sale={sale} posts={posts.slice(0, SHOWN)} isShort />
    </section>
  )
}
