/**
 * The content of a page does not move while it loads: pictures, scripts and what they show have reserved space from
 * the first paint on.
 */
import { describe } from 'vitest'
import { testThatNothingMoves } from '../lib/late-pages.ts'
import { hasBrowser } from '../run/shared-part.ts'

describe.skipIf(!hasBrowser)('on a phone', () =>
  testThatNothingMoves({ width: 390, height: 844 }, ['goods-sale-open', 'turn-sizes', 'hall-turn', 'payment']),
)
