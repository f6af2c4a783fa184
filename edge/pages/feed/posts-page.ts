/** The shop's posts as a separate page: the newest, or those of one page. */
import type { Post } from '../../../shared/api/public.ts'
import { buttonTo, type Html, html } from '../html.ts'
import { inLanguage } from '../parts/announcement.ts'
import { type Content, homeOf, type PageContext, type Shows } from '../view.ts'
import { postItem } from './feed-section.ts'

interface PostsShown {
  readonly posts: readonly Post[]
  /** The page's number; null for the newest posts. */
  readonly page: number | null
  /** The number of the page before; 0 means none. */
  readonly older: number
}

/** Search engines may index the newest posts alone, because the other pages repeat them. */
export const postsShown = (sale: string, { posts, page, older }: PostsShown): Shows => ({
  kind: 'added',
  path: `/sales/${sale}/posts${page === null ? '' : `/${page}`}`,
  content: (context) => postsPage(context, posts, older),
  ...(page === null && { head: (context) => postsHead(context, posts) }),
})

function postsPage(context: PageContext, posts: readonly Post[], older: number): Content {
  const { view, words } = context
  const main = html`<section class="stack">
    <h1 tabindex="-1">${words.feed}</h1>
    ${
      posts.length > 0
        ? html`<ol class="feed"
      reversed>${posts.map((post) => postItem(context, post))}</ol>`
        : html`<p class="lead">${words.feedNone}</p>`
    }
    ${older > 0 && html`<p class="row links"><a href="/sales/${view.sale}/posts/${older}">${words.feedOlder}</a></p>`}
    <p class="actions">${buttonTo(homeOf(view), words.backToSale)}</p>
  </section>`
  return { title: words.feed, main, reloadSeconds: null }
}

/** The address of the newest posts, and the text of the latest. */
function postsHead({ view, words, lang }: PageContext, [newest]: readonly Post[]): Html {
  const description = [`${words.feed} · ${view.state.name}`, newest && inLanguage(newest.text, lang).text]
  return html`<link rel="canonical" href="${view.host}/sales/${view.sale}/posts">
<meta name="description" content="${description.filter(Boolean).join(words.fullStop)}">`
}
