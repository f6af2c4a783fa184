/** Lists the changes of an audit entry, field by field, in readable form. Pure. */
export interface Change {
  /** The path of the field, for example `products.red.total`. */
  readonly field: string
  /** The value is undefined if the field did not exist before, or was removed. */
  readonly before?: string
  readonly after?: string
}

/** Lists every leaf that differs between two values. */
export function changesOf(before: unknown, after: unknown): Change[] {
  const [from, to] = [leaves(before), leaves(after)]
  const fields = [...new Set([...from.keys(), ...to.keys()])]
  return fields
    .filter((field) => from.get(field) !== to.get(field))
    .map((field) => ({ field, ...text('before', from.get(field)), ...text('after', to.get(field)) }))
}

const text = (name: 'before' | 'after', value: string | undefined) => (value === undefined ? {} : { [name]: value })

function leaves(value: unknown, path = ''): Map<string, string> {
  // A new object has no earlier value, or an empty one.
  if (value === null || value === undefined || value === '') return new Map()
  const entries = typeof value === 'object' ? Object.entries(value) : []
  if (entries.length === 0 && path === '' && typeof value === 'object') return new Map()
  if (entries.length === 0) return new Map([[path, typeof value === 'string' ? value : JSON.stringify(value)]])
  return new Map(entries.flatMap(([key, one]) => [...leaves(one, path === '' ? key : `${path}.${key}`)]))
}
