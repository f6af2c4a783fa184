/**
 * Templates of mustache (mustache.github.io) for flat data: variables, escaped or not, sections, inverted sections and
 * comments. What such data do not need is refused when a template is read: partials and other delimiters. Pure.
 */

export type TemplateData = Readonly<Record<string, string | number | boolean>>

type Part =
  | { readonly text: string }
  | { readonly variable: string; readonly isEscaped: boolean }
  | { readonly section: string; readonly isInverted: boolean; readonly parts: Part[] }

/** A template as it was read. */
export type Template = readonly Part[]

/** A template that cannot be read. The message says why, and at which line. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
}

interface Tag {
  readonly kind: '' | '&' | '#' | '^' | '/' | '!'
  readonly name: string
  readonly from: number
  readonly to: number
}

/** What a tag stands in: a section, or the template itself, which is in nothing else. */
interface Open {
  readonly name: string
  readonly parts: Part[]
  readonly outer: Open | null
}

export function readTemplate(text: string): Template {
  let open: Open = { name: '', parts: [], outer: null }
  let at = 0
  for (let tag = nextTag(text, at); tag; tag = nextTag(text, at)) {
    const { kind, name } = tag
    const isVariable = kind === '' || kind === '&'
    const { from, to } = isVariable ? tag : withItsLine(tag, text)
    open.parts.push({ text: text.slice(at, from) })
    at = to
    if (isVariable) open.parts.push({ variable: name, isEscaped: kind === '' })
    else if (kind === '/') {
      if (open.outer === null || name !== open.name) refuse(`ends "${name}", which is not open`, text, tag.from)
      open = open.outer
    } else if (kind !== '!') {
      const section = { section: name, isInverted: kind === '^', parts: [] }
      open.parts.push(section)
      open = { name, parts: section.parts, outer: open }
    }
  }
  if (open.outer !== null) refuse(`does not end "${open.name}"`, text, text.length)
  return [...open.parts, { text: text.slice(at) }]
}

function nextTag(text: string, after: number): Tag | null {
  const from = text.indexOf('{{', after)
  if (from === -1) return null
  const braces = text[from + 2] === '{' ? '}}}' : '}}'
  const end = text.indexOf(braces, from)
  if (end === -1) return refuse('has a tag without an end', text, from)
  const inner = text.slice(from + braces.length, end).trim()
  const [first = ''] = inner
  if (first === '>' || first === '=') refuse(`has {{${first}, which is not for such templates`, text, from)
  const to = end + braces.length
  if (braces === '}}}') return { kind: '&', name: inner, from, to }
  const kind = (['&', '#', '^', '/', '!'] as const).find((one) => one === first) ?? ''
  return { kind, name: inner.slice(kind.length).trim(), from, to }
}

/** A section's tag that is alone on its line takes the line with it. */
function withItsLine({ from, to }: Tag, text: string): { readonly from: number; readonly to: number } {
  const start = text.lastIndexOf('\n', from - 1) + 1
  const newline = text.indexOf('\n', to)
  const end = newline === -1 ? text.length : newline + 1
  const isAlone = (text.slice(start, from) + text.slice(to, end)).trim() === ''
  return isAlone ? { from: start, to: end } : { from, to }
}

function refuse(why: string, text: string, at: number): never {
  throw new TemplateError(`${why} (line ${text.slice(0, at).split('\n').length})`)
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string) => text.replace(/[&<>"']/g, (one) => ESCAPES[one] ?? one)

/** A name that the data do not have is empty, and false as a section. */
export function renderTemplate(template: Template, data: TemplateData): string {
  const valueIn = (name: string) => (Object.hasOwn(data, name) ? (data[name] ?? '') : '')
  return template
    .map((part) => {
      if ('text' in part) return part.text
      if ('variable' in part) {
        const value = String(valueIn(part.variable))
        return part.isEscaped ? escaped(value) : value
      }
      return Boolean(valueIn(part.section)) === part.isInverted ? '' : renderTemplate(part.parts, data)
    })
    .join('')
}
