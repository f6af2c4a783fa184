/**
 * Checks pages that together have every part with axe by WCAG 2.2 AA, and that long names fit. The long tier has every
 * page, other looks, widths and languages.
 */
import { describe } from 'vitest'
import { REPRESENTATIVE, testOnAPhone } from '../lib/sample-pages.ts'
import { hasBrowser } from '../run/shared-part.ts'

describe.skipIf(!hasBrowser)('on a phone axe finds nothing wrong', () => testOnAPhone(REPRESENTATIVE))
