/** Repeats layout-shift.test.ts in a wide window, which takes half a minute. */
import { describe } from 'vitest'
import { testThatNothingMoves } from '../lib/late-pages.ts'
import { hasBrowser } from '../run/shared-part.ts'

describe.skipIf(!hasBrowser)('on a desk', () => testThatNothingMoves({ width: 1280, height: 800 }))
