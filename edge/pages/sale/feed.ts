/** The shop's posts on a page: the newest, which its script keeps up to date, and the way to older ones. */
import type { Post } from '../../../shared/api/public.ts'
import { pageOf } from '../../../shared/feed.ts'
import { moment } from '../../../shared/format.ts'
import { type Html, hidden, html } from '../html.ts'
import { inLanguage } from '../parts/announcement.ts'
import { picture } from '../parts/picture.ts'
import type { PageContext } from '../view.ts'

/** How wide a post's picture is shown, as the `sizes` of an `<img>`. */
export const POST_PICTURE = '(min-width: 60rem) 32rem, 92vw'

/** Hidden where no posts are known; the script may find some. */
export function feedSection(context: PageContext): Html {
  const { view, words } = context
  const { sale, posts = [] } = view
  const isEmpty = posts.length === 0
  const older = pageOf((posts.at(-1)?.n ?? 1) - 1)
  return html`<section class="stack" id="feed" aria-labelledby="feed-title" data-urgent="${words.announcementWarning}" ${hidden(isEmpty)}>
    <h2 id="feed-title">${words.feed}</h2>
    <ol class="feed" id="posts" reversed ${!isEmpty && html`data-older="${older}"`}>${posts.map((post) => postItem(context, post))}</ol>
    <p class="row links" ${hidden(older === 0)}><a id="older-posts" href="/sales/${sale}/posts/${older}">${words.feedOlder}</a></p>
  </section>
  ${isEmpty && html`<noscript><p><a href="/sales/${sale}/posts">${words.feed}</a></p></noscript>`}`
}

/** The same as the script makes it. */
export function postItem({ words, lang: around }: PageContext, { n, at, urgent, text: texts, image }: Post): Html {
  const { text, lang } = inLanguage(texts, around)
  return html`<li data-n="${n}" tabindex="-1" ${urgent && html`class="urgent"`}>
      ${urgent && html`<p><b>${words.announcementWarning}</b></p>`}
      <p dir="auto" lang="${lang}">${text}</p>
      <time class="small quiet" datetime="${at}" data-moment>${moment(around, Date.parse(at), 'UTC')}&nbsp;UTC</time>
      ${image && html`<div class="pic">${picture(image, { sizes: POST_PICTURE })}</div>`}
    </li>`
}
