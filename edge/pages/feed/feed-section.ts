/** The shop's posts on a page: the newest, which its script updates, and a link to older ones. */
import type { Post } from '../../../shared/api/public.ts'
import { pageOf } from '../../../shared/feed.ts'
import { moment } from '../../../shared/format.ts'
import { type Html, hidden, html } from '../html.ts'
import { inLanguage } from '../parts/announcement.ts'
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
  return html`<section class="stack" id="feed" aria-labelledby="feed-title" data-urgent="${words.announcementWarning}"
    ${hidden(isEmpty)}>
    <h2 id="feed-title">${words.feed}</h2>
    <ol class="feed" id="posts" reversed ${
      !isEmpty && html`data-older="${older}"`
    }>${posts.map((post) => postItem(context, post))}</ol>
    <p class="row links" ${hidden(older === 0)}><a id="older-posts"
      href="/sales/${sale}/posts/${older}">${words.feedOlder}</a></p>
  </section>
  ${isEmpty && html`<noscript><p><a href="/sales/${sale}/posts">${words.feed}</a></p></noscript>`}`
}

/** The script makes the same element. */
export function postItem({ words, lang: around }: PageContext, { n, at, urgent, text: texts, image }: Post): Html {
  const { text, lang } = inLanguage(texts, around)
  return html`<li data-n="${n}" tabindex="-1" ${urgent && html`class="urgent"`}>
      ${urgent && html`<p><b>${words.announcementWarning}</b></p>`}
      <p dir="auto" lang="${lang}">${text}</p>
      <time class="small quiet" datetime="${at}" data-moment>${moment(around, Date.parse(at), 'UTC')}&nbsp;UTC</time>
      ${image && html`<div class="pic">${picture(image, { sizes: POST_PICTURE })}</div>`}
    </li>`
}
