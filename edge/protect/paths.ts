/** Which paths of the protected site are held, judged as that site will read them. Pure. */

/** Whether a path is one of those meant. */
export type PathTest = (path: string) => boolean

/** Paths in which `*` stands for anything, separated by spaces or commas. */
export function pathTest(patterns: string, read: (path: string) => string = (path) => path): PathTest {
  const each = patterns
    .split(/[\s,]+/)
    .filter((pattern) => pattern !== '')
    .map((pattern) => read(pattern).split('*'))
  return (path) => {
    const asRead = read(path)
    return each.some((parts) => isMadeOf(parts, asRead))
  }
}

/** Finds the parts one after another: an expression with several `*` could take long over a path made for it. */
function isMadeOf([first = '', ...others]: readonly string[], path: string): boolean {
  const last = others.pop()
  if (last === undefined) return path === first
  let from = first.length
  for (const part of others) {
    const at = path.indexOf(part, from)
    if (at === -1) return false
    from = at + part.length
  }
  return path.startsWith(first) && path.endsWith(last) && path.length - last.length >= from
}

/** As a site may read it that ignores case, or takes letters of full width or with marks for the plain ones. */
export const looselyRead = (path: string): string =>
  path
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .toLowerCase()

/**
 * What sites read in more ways than one: slashes and backslashes, what is decoded twice, parameters behind a `;`, where
 * some believe the path to end (at a `?`, a `#`, a control character or the end of a line), and dots and spaces that some
 * drop from a name's end.
 */
const AMBIGUOUS = /[;\\]|\/\/|(?:\.|%20|%2e)(?:\/|$)|%(?:[01].|2[35f]|3[bf]|5c|7f|e2%80%a[89])/i

/**
 * Judges the path as the site will read it: without `..`, and decoded. One that could be read in more ways than one is
 * held, so that no spelling of a protected path gets round the queue.
 */
export function isHeld(pathname: string, isProtected: PathTest, isOpen: PathTest): boolean {
  const path = AMBIGUOUS.test(pathname) ? null : decoded(pathname)
  return path === null || (isProtected(path) && !isOpen(path))
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
