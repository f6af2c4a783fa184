/** The shop's posts on a page: the newest, which its script updates, and a link to older ones. */
import type { Post } from '../../../shared/api/public.ts'
import { pageOf } from '../../../shared/feed.ts'
import { type Html, hidden, html, htmlOf, type Tag } from '../html.ts'
import { type Around, inUtc, shopText, timePart } from '../parts/announcement.ts'
import { picture } from '../parts/picture.ts'
import type { PageContext } from '../view.ts'

/** The displayed width of a post's picture, as the `sizes` of an `<img>`. */
export const POST_PICTURE = '(min-width: 60rem) 32rem, 92vw'

/** The section is hidden if no posts are known, because the script may find some. */
export function feedSection(context: PageContext, posts: readonly Post[]): Html {
  const { view, words } = context
  const { sale } = view
  const isEmpty = posts.length === 0
  const older = pageOf((posts.at(-1)?.n ?? 1) - 1)
  return html`<section class="stack" id="feed" aria-labelledby="feed-title" data-urgent="${words.announcementWarning}" data-edited="${words.feedEdited}"
    ${hidden(isEmpty)}>
    <h2 id="feed-title">${words.feed}</h2>
    <ol class="feed" id="posts" reversed ${
      !isEmpty && html`data-older="${older}"`
    }>${posts.map((post) => postItem(context, post))}</ol>
    <p class="row links" ${hidden(older === 0)}><a id="older-posts"
      href="/sales/${sale}/posts${older > 0 && `/${older}`}">${words.feedOlder}</a></p>
  </section>
  ${isEmpty && html`<noscript><p><a href="/sales/${sale}/posts">${words.feed}</a></p></noscript>`}`
}

export function postItem({ words, lang }: PageContext, post: Post): Html {
  const around: Around = [lang, words.announcementWarning, inUtc(lang, post.at)]
  const { image } = post
  return htmlOf(postPart<Html>(post, around, words.feedEdited, image && picture(image, { sizes: POST_PICTURE })))
}

/**
 * A post in the list of the feed, for the server and the script. `edited` is the word for a post that was edited, and
 * `picture` is its picture, if it has one.
 */
export const postPart = <Raw = never>(
  { n, at, urgent, text, edited_at }: Post,
  [lang, label, time]: Around,
  edited: string,
  picture: Raw | Tag<Raw> | undefined,
): Tag<Raw> => [
  'li',
  { 'data-n': n, 'data-at': edited_at ?? at, tabindex: -1, class: urgent ? 'urgent' : '' },
  ...(urgent ? [['p', {}, ['b', {}, label]] as const] : []),
  shopText('p', text, lang),
  timePart(at, time),
  ...(edited_at === undefined ? [] : [' ', ['span', { class: 'small quiet' }, edited] as const]),
  ...(picture ? [['div', { class: 'pic' }, picture] as const] : []),
]
