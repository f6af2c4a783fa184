/** Makes the types of the client (client/src/types) from the documents, as TypeScript that a person can read. Pure. */
import {
  type Content,
  type Document,
  METHODS,
  type Media,
  type Operation,
  type Parameter,
  type Schema,
} from '../../shared/openapi.ts'

const NOTE = '// `npm run openapi` writes this file from docs/openapi: do not edit it.\n'

/** The file of one document: its named schemas, its calls by operation id, and its messages by type. */
export function clientTypes(document: object, { withCalls }: { readonly withCalls: string | null }): string {
  const { components, paths = {}, webhooks = {} } = document as Document
  const named = Object.entries(components.schemas ?? {}).map(([name, schema]) => namedType(name, schema))
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const own = item[method]
      if (!own) return []
      return [
        { path, method, operation: { ...own, parameters: [...(item.parameters ?? []), ...(own.parameters ?? [])] } },
      ]
    }),
  )
  const calls = operations.map(({ operation }) => callType(operation))
  const routes = operations.map(
    ({ path, method, operation }) => `  ${operation.operationId}: ['${method.toUpperCase()}', '${path}'],`,
  )
  const messages = Object.entries(webhooks).map(([type, { post }]) => {
    const [media] = Object.values(post?.requestBody?.content ?? {})
    return `${comment([post?.summary], '  ')}  readonly '${type}': ${typeOf(media?.schema ?? {}, '  ')}`
  })
  return [
    NOTE,
    ...named,
    ...(withCalls === null
      ? []
      : [
          '/** The calls by name: what each takes, and what it answers. */',
          `export interface ${withCalls} {\n${calls.join('\n')}\n}\n`,
          `/** Method and path of each call. */\nexport const ROUTES = {\n${routes.join('\n')}\n} as const\n`,
        ]),
    ...(messages.length === 0 || withCalls !== null
      ? []
      : [`/** The messages by their type. */\nexport interface WebhookMessages {\n${messages.join('\n')}\n}\n`]),
  ].join('\n')
}

function namedType(name: string, schema: Schema): string {
  const text = typeOf(schema, '')
  const isPlainObject = schema.properties !== undefined && text.startsWith('{') && !text.includes('\n} & ')
  const declared = isPlainObject ? `interface ${name} ${text}` : `type ${name} = ${text}`
  return `${comment([schema.description], '')}export ${declared}\n`
}

// -- Calls ----------------------------------------------------------------------------------------------------------

function callType({ operationId, summary, description, parameters = [], requestBody, responses }: Operation): string {
  const fields = (['path', 'query', 'header'] as const).flatMap((place) => {
    const of = parameters.filter((one) => one.in === place && one.name !== 'accept')
    if (of.length === 0) return []
    const isOptional = of.every(({ required }) => !required)
    const name = { path: 'path', query: 'query', header: 'headers' }[place]
    return [`    readonly ${name}${isOptional ? '?' : ''}: {\n${of.map(parameterField).join('\n')}\n    }`]
  })
  const body = requestBody && bodyType(requestBody.content)
  const isOptional = requestBody?.required === false
  return [
    `${comment([sentence(summary), description], '  ')}  readonly ${operationId}: {`,
    ...fields,
    ...(body ? [`    readonly body${isOptional ? '?' : ''}: ${body}`] : []),
    `    readonly answer: ${answerType(responses)}`,
    '  }',
  ].join('\n')
}

const parameterField = ({ name, description, required, schema }: Parameter) =>
  fieldText({ name, description, isRequired: required === true, schema: schema ?? {} }, '      ')

/** JSON as it is, and a file with its media type. */
function bodyType(content: Content): string {
  const { 'application/json': json, ...files } = content
  const types = Object.keys(files).map((type) => (type.endsWith('/*') ? 'string' : `'${type}'`))
  const file = types.length > 0 ? [`{ readonly file: BodyInit; readonly type: ${types.join(' | ')} }`] : []
  return [...(json?.schema ? [typeOf(json.schema, '    ')] : []), ...file].join(' | ')
}

function answerType(responses: Operation['responses']): string {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  const types = successes.flatMap(([, { content = {} }]) => {
    const media = Object.entries(content)
    return media.length === 0 ? ['undefined'] : media.map(([type, one]) => mediaType(type, one))
  })
  return [...new Set(types)].join(' | ')
}
const mediaType = (type: string, { schema }: Media) =>
  type === 'application/json' && schema ? typeOf(schema, '    ') : 'string'

// -- Schemas --------------------------------------------------------------------------------------------------------

function typeOf(schema: Schema, indent: string): string {
  const { $ref, anyOf, oneOf, allOf, enum: values, items, prefixItems, properties, type } = schema
  if ($ref !== undefined) return $ref.split('/').at(-1) ?? 'unknown'
  if (schema.const !== undefined) return literal(schema.const)
  if (values) return values.map(literal).join(' | ')
  const variants = anyOf ?? oneOf
  if (variants) return union(variants.map((one) => typeOf(one, indent)))
  if (allOf) return allOf.map((one) => typeOf(one, indent)).join(' & ')
  if (type === 'array') {
    if (prefixItems) return `readonly [${prefixItems.map((one) => typeOf(one, indent)).join(', ')}]`
    return `readonly ${inArray(items ? typeOf(items, indent) : 'unknown')}[]`
  }
  if (type === 'object' || properties) return objectType(schema, indent)
  return (
    { string: 'string', number: 'number', integer: 'number', boolean: 'boolean', null: 'null' }[type ?? ''] ?? 'unknown'
  )
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema, indent: string): string {
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(([name, field]) =>
    fieldText({ name, description: field.description, isRequired: required.includes(name), schema: field }, inner),
  )
  const others = typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown'
  const map = `Readonly<Record<string, ${others}>>`
  if (fields.length === 0) return additionalProperties === false ? 'Readonly<Record<string, never>>' : map
  const object = `{\n${fields.join('\n')}\n${indent}}`
  return typeof additionalProperties === 'object' ? `${object} & ${map}` : object
}

interface Field {
  readonly name: string
  readonly description: string | undefined
  readonly isRequired: boolean
  readonly schema: Schema
}

/** A field that may be left out may also be undefined, which JSON leaves out. */
function fieldText({ name, description, isRequired, schema }: Field, indent: string): string {
  const type = typeOf(schema, indent)
  const text = isRequired ? `readonly ${keyOf(name)}: ${type}` : `readonly ${keyOf(name)}?: ${type} | undefined`
  return `${comment([description], indent)}${indent}${text}`
}

const union = (types: readonly string[]) => [...new Set(types)].join(' | ')
const inArray = (type: string) => (/ [|&] /.test(type) || type.startsWith('readonly ') ? `(${type})` : type)
const keyOf = (name: string) => (/^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`)
const literal = (value: unknown) =>
  typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : JSON.stringify(value)

/** A summary is a heading in the document, and the first sentence of a comment. */
const sentence = (summary: string | undefined) =>
  summary === undefined || /[.?!]$/.test(summary) ? summary : `${summary}.`

function comment(texts: readonly (string | undefined)[], indent: string): string {
  const lines = texts.flatMap((text) => (text ? text.replaceAll('*/', '*\\/').split('\n') : [])).filter(Boolean)
  if (lines.length === 0) return ''
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`).join('\n')}\n${indent} */\n`
}
