/** Decides which paths of the protected site are held, as that site will interpret them. Pure. */

/** True if the path matches. */
export type PathTest = (path: string) => boolean

/** Parses patterns in which `*` stands for any text, separated by spaces or commas. */
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

/**
 * Finds the parts one after another, because an expression with several `*` could take very long for a hostile path.
 */
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

/**
 * The path as a site may interpret it that ignores case, or treats full-width letters and letters with marks as plain
 * ones.
 */
export const looselyRead = (path: string): string =>
  path
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .toLowerCase()

/**
 * Spellings that sites interpret differently: slashes and backslashes, double encoding, parameters behind a `;`,
 * characters at which some end the path (a `?`, a `#`, a control character or the end of a line), and dots and spaces
 * that some remove from the end of a name.
 */
const AMBIGUOUS = /[;\\]|\/\/|(?:\.|%20|%2e)(?:\/|$)|%(?:[01].|2[35f]|3[bf]|5c|7f|e2%80%a[89])/i

/**
 * Judges the path as the site will interpret it: without `..`, and decoded. An ambiguous path is held, so that no
 * spelling of a protected path evades the queue.
 */
export function isHeld(pathname: string, isProtected: PathTest, isOpen: PathTest): boolean {
  const path = AMBIGUOUS.test(pathname) ? null : decodePart(pathname)
  return path === null || (isProtected(path) && !isOpen(path))
}

function decodePart(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
