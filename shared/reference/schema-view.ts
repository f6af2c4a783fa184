/** Shows a schema as the fields that it has, each with its type, its bounds and what it means. */

import { type Document, resolved, type Schema } from '../openapi.ts'
import { el, inline, later } from './dom.ts'

/** The fields of a schema, or its type in words. */
export function schemaView(document: Document, schema: Schema): HTMLElement {
  const { of, suffix } = unwrapped(document, schema)
  const variants = variantsOf(of)
  if (variants.length > 1) {
    const rows = variants.map((one) =>
      el('li', {}, el('span', { class: 'type' }, typeOf(document, one)), inner(document, one)),
    )
    return el(
      'div',
      { class: 'schema' },
      el('p', { class: 'type' }, `One of these${suffix}`),
      el('ul', { class: 'fields' }, ...rows),
    )
  }
  const { properties } = of
  if (!properties || Object.keys(properties).length === 0)
    return el('p', { class: 'schema type' }, typeOf(document, schema))
  const rows = Object.entries(properties).map(([name, field]) => fieldView(document, name, field, of))
  return el(
    'div',
    { class: 'schema' },
    suffix ? el('p', { class: 'type' }, suffix.trim()) : null,
    el('ul', { class: 'fields' }, ...rows),
  )
}

function fieldView(document: Document, name: string, schema: Schema, { required = [] }: Schema): HTMLElement {
  const isRequired = required.includes(name)
  return el(
    'li',
    {},
    el('code', { class: 'name' }, name),
    el('span', { class: 'type' }, typeOf(document, schema)),
    isRequired ? null : el('span', { class: 'optional' }, 'optional'),
    schema.description ? el('span', { class: 'about' }, ...inline(schema.description)) : null,
    inner(document, schema),
  )
}

/** The fields inside of a field, once somebody wants to see them. */
function inner(document: Document, schema: Schema): HTMLElement | null {
  const { of } = unwrapped(document, schema)
  const hasFields = Object.keys(of.properties ?? {}).length > 0 || variantsOf(of).some((one) => isDeep(document, one))
  if (!hasFields) return null
  return later({ class: 'inner' }, ['Fields'], () => [schemaView(document, of)])
}

const isDeep = (document: Document, schema: Schema) => {
  const { of } = unwrapped(document, schema)
  return of.properties !== undefined || variantsOf(of).length > 1
}

/** What a schema is a list or a map of, and how to say so. */
function unwrapped(document: Document, schema: Schema, suffix = ''): { readonly of: Schema; readonly suffix: string } {
  const found = resolved(document, schema)
  const variants = variantsOf(found)
  const [only] = variants
  if (variants.length === 1 && only && only !== found) return unwrapped(document, only, suffix)
  if (found.type === 'array' && found.items) return unwrapped(document, found.items, ' (a list)')
  const { additionalProperties: values } = found
  if (found.type === 'object' && !found.properties && typeof values === 'object')
    return unwrapped(document, values, ' (by name)')
  return { of: found, suffix }
}

const isNull = ({ type }: Schema) => type === 'null'
const variantsOf = ({ anyOf, oneOf }: Schema) => [...(anyOf ?? []), ...(oneOf ?? [])].filter((one) => !isNull(one))

/** The type of a schema in a few words. */
export function typeOf(document: Document, schema: Schema): string {
  const found = resolved(document, schema)
  const { named, anyOf, oneOf, type, enum: values, items, prefixItems, additionalProperties } = found
  const nullable = [...(anyOf ?? []), ...(oneOf ?? [])].some(isNull) ? ' or null' : ''
  const variants = variantsOf(found)
  if (named !== undefined) return named + nullable
  if (variants.length > 0) return [...new Set(variants.map((one) => typeOf(document, one)))].join(' or ') + nullable
  if (found.const !== undefined) return JSON.stringify(found.const)
  if (values) return values.map((value) => JSON.stringify(value)).join(', ')
  if (prefixItems) return `[${prefixItems.map((one) => typeOf(document, one)).join(', ')}]`
  if (type === 'array') return items ? `list of ${typeOf(document, items)}${lengths(found)}` : 'list'
  if (type === 'object' && !found.properties && typeof additionalProperties === 'object')
    return `${typeOf(document, additionalProperties)} by name`
  return [type ?? 'anything', found.format && `(${found.format})`, lengths(found), bounds(found)]
    .filter(Boolean)
    .join(' ')
}

const range = (least: number | undefined, most: number | undefined, unit: string) => {
  if (least === undefined && most === undefined) return ''
  if (least === undefined || most === undefined)
    return ` ${least === undefined ? 'at most' : 'at least'} ${least ?? most}${unit}`
  return ` ${least} to ${most}${unit}`
}
const bounds = ({ minimum, maximum, default: fallback }: Schema) =>
  [range(minimum, maximum, '').trim(), fallback === undefined ? '' : `(default ${JSON.stringify(fallback)})`]
    .filter(Boolean)
    .join(' ')
const lengths = ({ minItems, maxItems, minLength, maxLength }: Schema) =>
  range(minItems, maxItems, ' entries') || range(minLength, maxLength, ' characters').trim()
