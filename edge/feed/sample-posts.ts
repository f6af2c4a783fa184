/** Invented posts, for the sample pages. */
import type { Post } from '../../shared/api/public.ts'
import { feedSection } from '../pages/feed/feed-section.ts'
import { postsShown } from '../pages/feed/posts-page.ts'
import type { Section } from '../pages/view.ts'

const postsAt = (nowMs: number): readonly Post[] => [
  {
    n: 14,
    at: new Date(nowMs - 240_000).toISOString(),
    urgent: true,
    text: { en: 'Size 37 is almost gone. All other sizes are well in stock.', ar: 'المقاس 37 على وشك النفاد.' },
  },
  {
    n: 12,
    at: new Date(nowMs - 600_000).toISOString(),
    urgent: false,
    text: { en: 'How a wave is made: each upper goes through the bath once, by hand,\nat an angle nobody measures.' },
    image: { url: `/images/${'c'.repeat(32)}`, alt: 'The wave at the heel, close up', width: 1440, height: 1440 },
  },
  {
    n: 11,
    at: new Date(nowMs - 1_500_000).toISOString(),
    urgent: false,
    text: { en: 'We are open. The secret number of the draw is out.', de: 'Wir haben geöffnet.' },
  },
]

export const samplePosts = (nowMs: number): Section => {
  const posts = postsAt(nowMs)
  return (context) => feedSection(context, posts)
}

export const samplePostsPage = (nowMs: number) => postsShown('demo', { posts: postsAt(nowMs), page: null, older: 1 })
