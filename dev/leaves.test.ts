import { expect, test } from 'vitest'
import { withoutEntries } from './leaves.ts'

const without = (...lines: string[]) =>
  withoutEntries([...lines, ''].join('\n'), (from) => from.startsWith('./gone/'))
    .split('\n')
    .slice(0, -1)

test('the imports of a deleted room go with the lines, the statements and the lists of one line that use them', () => {
  const stays = "import { kept } from './kept/kept.ts'"
  expect(
    without(
      stays,
      "import { type Page, page } from './gone/page.ts'",
      'import {',
      '  routes,',
      "} from './gone/routes.ts'",
      "import './gone/style.css'",
      'const LIST: readonly Part[] = [new page(sql, runtime)]',
      "  .route('/', routes({ sql, sales }))",
      '  page(state)',
      "  ['/kept', kept],",
      "  ['/gone', page],",
    ),
  ).toEqual([stays, 'const LIST: readonly Part[] = []', "  ['/kept', kept],"])
})

test('a page of a deleted room whose script is loaded later goes too, on one line or on several', () => {
  const kept = "const Kept = lazily(() => import('./kept/kept.tsx').then(({ Kept }) => Kept))"
  expect(
    without(
      "const Gone = lazily(() => import('./gone/gone.tsx').then(({ Gone }) => Gone))",
      kept,
      'const AlsoGone = lazily(() =>',
      "  import('./gone/also.tsx').then(({ AlsoGone }) => AlsoGone),",
      ')',
      "  ['/kept', Kept],",
      "  ['/gone', Gone],",
      "  ['/also', AlsoGone],",
    ),
  ).toEqual([kept, "  ['/kept', Kept],"])
})

test('a list of several in one line stays as it is, so that its types fail and it is written on several lines', () => {
  const list = 'const LIST = [kept, page]'
  expect(without("import { page } from './gone/page.ts'", list)).toEqual([list])
  expect(without(list)).toEqual([list])
})

test('a page that is loaded when it is shown goes with its route, in one line or three', () => {
  const stays = "const KeptPage = lazily(() => import('./kept/kept.tsx').then(({ KeptPage }) => KeptPage))"
  expect(
    without(
      stays,
      "const FeedPage = lazily(() => import('./gone/feed.tsx').then(({ FeedPage }) => FeedPage))",
      'const CodesPage = lazily(() =>',
      "  import('./gone/codes.tsx').then(({ CodesPage }) => CodesPage),",
      ')',
      "  ['/feed', FeedPage],",
      "  ['/codes', CodesPage],",
      "  ['/kept', KeptPage],",
    ),
  ).toEqual([stays, "  ['/kept', KeptPage],"])
})
