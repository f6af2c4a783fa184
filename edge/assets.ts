/**
 * The pages' style sheet and script, embedded by build.ts, served under names that hash their content and so never
 * change: a browser asks for each of them once.
 */
export interface Asset {
  readonly path: string
  readonly type: string
  readonly body: string
}

declare const __ASSETS__: { readonly style: Asset; readonly script: Asset }

const none = (type: string, ending: string): Asset => ({ path: `/assets/none.${ending}`, type, body: '' })

/** Without a build, as in a unit test, there are none to be had. */
export const { style, script } =
  typeof __ASSETS__ === 'undefined'
    ? { style: none('text/css', 'css'), script: none('text/javascript', 'js') }
    : __ASSETS__

const FOREVER = 'public, max-age=31536000, immutable'

export function asset(path: string): Response | null {
  const found = [style, script].find((one) => one.path === path)
  if (!found) return null
  return new Response(found.body, {
    headers: {
      'content-type': `${found.type}; charset=utf-8`,
      'cache-control': FOREVER,
      'x-content-type-options': 'nosniff',
    },
  })
}
