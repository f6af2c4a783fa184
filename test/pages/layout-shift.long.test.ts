/** Repeats layout-shift.test.ts with all pages, and in a wide window, which takes a minute. */
import { describe } from 'vitest'
import { testThatNothingMoves } from '../lib/late-pages.ts'
import { hasBrowser } from '../run/shared-part.ts'

describe.skipIf(!hasBrowser)('on a phone', () => testThatNothingMoves({ width: 390, height: 844 }))
describe.skipIf(!hasBrowser)('on a desk', () => testThatNothingMoves({ width: 1280, height: 800 }))
