/** Checks a page in a browser with axe by WCAG 2.2 AA. */
import axe from 'axe-core'
import type { Page } from 'playwright-core'

const ALL_RULES = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }
/** The rules whose result depends on the look or the width. */
const RULES_OF_LOOK = {
  type: 'rule',
  values: ['color-contrast', 'target-size', 'scrollable-region-focusable', 'link-in-text-block'],
}

export const PHONE = { width: 390, height: 844 }
export const DESK = { width: 1440, height: 900 }
const LOOKS = [PHONE, DESK].flatMap((size) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ size, colorScheme, name: `${size.width} ${colorScheme}` })),
)

/** Contrast takes axe a third of its time. */
export const EXCEPT_CONTRAST = { 'color-contrast': { enabled: false } }

interface Checked {
  readonly runOnly?: object
  /** Rules that are switched off or on. */
  readonly rules?: object
  /** Selectors of parts that come from other parties. */
  readonly exclude?: readonly string[]
}

/** The faults that axe finds, and whether the page is wider than its window. */
export async function faultsOf(
  page: Page,
  { runOnly = ALL_RULES, rules = {}, exclude = [] }: Checked = {},
): Promise<string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe.source)
  const context = JSON.stringify({ exclude: exclude.map((selector) => [selector]) })
  const options = JSON.stringify({ runOnly, rules, resultTypes: ['violations'], preload: false })
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${context}, ${options})`)
  const faults = violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)}`,
  )
  return [...faults, ...(await tooWide(page))]
}

/** Returns the faults of each look that has any. In each look only the rules that depend on it are checked. */
export async function faultsByLook(page: Page, looks = LOOKS): Promise<[look: string, faults: string[]][]> {
  const found: [string, string[]][] = []
  for (const { size, colorScheme, name } of looks) {
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const faults = await faultsOf(page, { runOnly: RULES_OF_LOOK, exclude: ['iframe'] })
    if (faults.length > 0) found.push([name, faults])
  }
  return found
}

/** Names the elements that reach furthest out of a page that is wider than its window. */
export async function tooWide(page: Page): Promise<string[]> {
  const wide = await page.evaluate<[number, string[]]>(`[
    document.documentElement.scrollWidth - innerWidth,
    [...document.querySelectorAll('body *')]
      .map((element) => [element.getBoundingClientRect().right - innerWidth, element])
      .filter(([over]) => over > 0).sort(([a], [b]) => b - a).slice(0, 3)
      .map(([over, element]) => over + ' px: ' + element.outerHTML.slice(0, 120)),
  ]`)
  const [over, elements] = wide
  return over > 0 ? [`${over} px wider than the window: ${elements.join('; ')}`] : []
}
