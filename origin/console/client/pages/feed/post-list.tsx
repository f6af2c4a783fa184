/** The posts of a sale: the one on top first, then the latest; each is edited or retracted where it stands. */
import { useSignal } from '@preact/signals'
import { instant, languageName, time } from '../../format.ts'
import { Confirm } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Dialog, Effects } from '../../sheet/dialog.tsx'
import { Icon } from '../../sheet/icon.tsx'
import { State } from '../../sheet/marks.tsx'
import { shownAt } from '../../sheet/picture.tsx'
import { edit, type Post, retract, textOf } from './feed-calls.ts'
import { Write } from './write.tsx'

interface ListProps {
  readonly sale: string
  readonly posts: readonly Post[]
  /** True in a dialog, where there is no room for another one, nor for pictures. */
  readonly isShort?: boolean
}

export const PostList = ({ sale, posts, isShort = false }: ListProps) => (
  <ol class="posts">
    {posts
      .toSorted((a, b) => Number(b.shown) - Number(a.shown))
      .map((post) => (
        <Item key={post.n} sale={sale} post={post} isShort={isShort} />
      ))}
  </ol>
)

const DAY_MS = 86_400_000
const at = (iso: string) => (Date.now() - Date.parse(iso) < DAY_MS ? time(iso) : instant(iso))

function Item({ sale, post, isShort }: { readonly sale: string; readonly post: Post; readonly isShort: boolean }) {
  const { n, operator, shown, until, edited_at, removed_at, text, image, level } = post
  const isGone = removed_at !== null
  const languages = Object.keys(text)
  return (
    <li class={shown ? 'pinned' : isGone ? 'gone' : ''} data-post={n}>
      <p class="row small quiet tight-row">
        {shown && <State level="info">On top now</State>}
        <span>
          {at(post.at)}, {operator}
        </span>
        {edited_at !== undefined && <span>edited {at(edited_at)}</span>}
        {shown && until !== null && <span>until {at(until)}</span>}
        {!shown && level !== null && until !== null && !isGone && <span>was on top until {at(until)}</span>}
        {isGone && <span>retracted {at(removed_at)}</span>}
      </p>
      {isGone ? (
        <p dir="auto">
          <s>{textOf(post)}</s>
        </p>
      ) : (
        <p dir="auto">{textOf(post)}</p>
      )}
      {languages.length > 1 && !isShort && (
        <details class="small">
          <summary class="quiet">in {languages.length} languages</summary>
          {Object.entries(text).map(([language, one]) => (
            <p key={language} lang={language} dir="auto">
              {one} <span class="quiet">({languageName(language)})</span>
            </p>
          ))}
        </details>
      )}
      {image && !isShort && <img class="single" src={shownAt(image.url)} alt={image.alt} />}
      {may('operator') && !isGone && !isShort && <Tools sale={sale} post={post} />}
    </li>
  )
}

const SHORT = 24
const nameOf = (post: Post) => {
  const text = textOf(post)
  return text.length > SHORT ? `${text.slice(0, SHORT).replace(/[\s.]+$/, '')}…` : text
}

function Tools({ sale, post }: { readonly sale: string; readonly post: Post }) {
  const isOpen = useSignal(false)
  const name = nameOf(post)
  return (
    <p class="row tools">
      <button type="button" class="btn bare" aria-label={`Edit: ${name}`} onClick={() => (isOpen.value = true)}>
        <Icon name="edit" />
        Edit
      </button>
      {post.shown && (
        <Confirm
          action="Take off the top"
          name={`Take off the top: ${name}`}
          icon="down"
          look="bare"
          effect={
            <Effects
              effects={{
                stops: 'pages no longer show it on top',
                isKept: 'it stays in the feed',
                undo: 'put it on top',
              }}
            />
          }
          onConfirm={() => edit(sale, post, { urgent: false })}
        />
      )}
      <Confirm
        action="Retract"
        act="Retract it"
        name={`Retract: ${name}`}
        icon="undo"
        look="bare"
        effect={
          <Effects
            effects={{
              stops: 'it is gone from open pages within seconds, from older pages within a minute',
              isKept: 'you see it here, and who retracted it in the audit',
              undo: 'there is none; who has read it has read it',
            }}
          />
        }
        onConfirm={() => retract(sale, post.n)}
      />
      <Dialog title="Edit the post" sub={name} broad isOpen={isOpen.value} onClose={() => (isOpen.value = false)}>
        <Write sale={sale} post={post} before={null} onDone={() => (isOpen.value = false)} />
      </Dialog>
    </p>
  )
}
