/**
 * Makes an OpenAPI 3.1 document (spec.openapis.org/oas/v3.1.1) from operations, whose bodies are the Valibot schemas
 * that the routes themselves parse. Pure.
 */
import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import { type ProblemType, problem } from '../../shared/problem.ts'

type Schema = v.GenericSchema
type Json = Record<string, unknown>

/** How a caller says who it is. */
export type Caller = 'queue' | 'admission' | 'order' | 'shop'

interface Parameter {
  readonly schema: Schema
  readonly description: string
  readonly required?: true
}

interface Body {
  readonly schema: Schema
  readonly description: string
  readonly example?: unknown
  readonly optional?: true
  /** The same JSON may be sent in these media types as well. */
  readonly also?: readonly string[]
}

interface Answer {
  readonly description: string
  /** What a JSON body is; without one the answer has no body, or that of `type`. */
  readonly schema?: Schema
  readonly example?: unknown
  /** The media type of a body that is not JSON. */
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Operation {
  readonly id: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly callers?: readonly Caller[]
  /** True if the call is answered without any of `callers` as well. */
  readonly anyone?: true
  readonly query?: Readonly<Record<string, Parameter>>
  readonly headers?: Readonly<Record<string, Parameter>>
  readonly body?: Body
  readonly answers: Readonly<Record<number, Answer>>
  /** Problems of this call, besides those of every call. */
  readonly problems: readonly ProblemType[]
}

/** Operations by path and method, for example `{ '/sales/{sale}': { get: .. } }`. */
export type Operations = Readonly<Record<string, Readonly<Partial<Record<'get' | 'post' | 'delete', Operation>>>>>

interface DocumentParts {
  readonly info: Json
  readonly servers: readonly Json[]
  readonly tags: readonly Json[]
  readonly pathParameters: Readonly<Record<string, Parameter>>
  readonly callers: Readonly<Partial<Record<Caller, Json>>>
  /** The schemas that have a name of their own in the document: bodies as they are sent, and answers. */
  readonly sent: Named
  readonly answered: Named
  readonly operations: Operations
}

type Named = Readonly<Record<string, Schema>>

/** Every call may be answered with these. */
const ALWAYS: readonly ProblemType[] = ['invalid-request', 'internal-error', 'try-again']

export function documentOf(parts: DocumentParts): Json {
  const { info, servers, tags, callers, sent, answered, operations } = parts
  return {
    openapi: '3.1.1',
    info,
    servers,
    tags,
    paths: mapped(operations, (methods, path) => ({
      parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) =>
        parameter(name, 'path', parts.pathParameters),
      ),
      ...mapped(methods as Record<string, Operation>, (operation) => operationOf(operation, parts)),
    })),
    components: {
      securitySchemes: callers,
      schemas: {
        ...mapped(sent, (schema, name) => jsonSchema(schema, 'input', without(sent, name))),
        ...mapped(answered, (schema, name) => jsonSchema(schema, 'output', without(answered, name))),
        Problem: PROBLEM,
      },
      examples: Object.fromEntries([...usedProblems(operations)].map((type) => [type, { value: problem(type) }])),
    },
  }
}

function operationOf({ callers = [], ...operation }: Operation, { sent, answered }: DocumentParts): Json {
  const { id, tag, summary, description, anyone, query = {}, headers = {}, body } = operation
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    security: [...callers.map((caller) => ({ [caller]: [] })), ...(anyone || callers.length === 0 ? [{}] : [])],
    parameters: [
      ...Object.keys(query).map((name) => parameter(name, 'query', query)),
      ...Object.keys(headers).map((name) => parameter(name, 'header', headers)),
    ],
    ...(body && {
      requestBody: {
        description: body.description,
        required: !body.optional,
        content: Object.fromEntries(
          ['application/json', ...(body.also ?? [])].map((type) => [
            type,
            {
              schema: jsonSchema(body.schema, 'input', sent),
              ...(body.example !== undefined && { example: body.example }),
            },
          ]),
        ),
      },
    }),
    responses: {
      ...mapped(operation.answers, (answer) => answerOf(answer, answered)),
      ...problemsOf([...operation.problems, ...ALWAYS]),
    },
  }
}

function parameter(name: string, place: 'path' | 'query' | 'header', all: Readonly<Record<string, Parameter>>): Json {
  const found = all[name]
  if (!found) throw new Error(`The parameter ${name} is not described.`)
  const { description, schema, required } = found
  const isRequired = place === 'path' || required === true
  return { name, in: place, description, required: isRequired, schema: jsonSchema(schema, 'input') }
}

function answerOf({ description, schema, example, type, headers }: Answer, named: Named): Json {
  const media = schema && {
    'application/json': {
      schema: jsonSchema(schema, 'output', named),
      ...(example !== undefined && { example }),
    },
  }
  return {
    description,
    ...(headers && { headers: mapped(headers, (text) => ({ description: text, schema: { type: 'string' } })) }),
    ...((media || type) && { content: media ?? { [type as string]: { schema: { type: 'string' } } } }),
  }
}

// -- Problems -------------------------------------------------------------------------------------------------------

const PROBLEM = {
  type: 'object',
  description: 'A problem (RFC 9457). Some types have more fields, which their page describes.',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: { type: 'string', description: 'The address of a page about the type, relative to the call.' },
    title: { type: 'string' },
    status: { type: 'integer', description: 'The status of the response.' },
    detail: { type: 'string', description: 'A sentence for the reader: what happened, and what to do.' },
    retry_after_seconds: { type: 'integer', description: 'The same as the header Retry-After.' },
    errors: {
      type: 'array',
      description: 'What is wrong with each field, by its path in the body.',
      items: {
        type: 'object',
        required: ['field', 'detail'],
        properties: { field: { type: 'string' }, detail: { type: 'string' } },
      },
    },
  },
}

const usedProblems = (operations: Operations): ReadonlySet<ProblemType> =>
  new Set([
    ...Object.values(operations).flatMap((methods) => Object.values(methods).flatMap(({ problems }) => problems)),
    ...ALWAYS,
  ])

/** The problems of a call by status, each type with an example. */
function problemsOf(types: readonly ProblemType[]): Json {
  const byStatus = Map.groupBy(new Set(types), (type) => problem(type).status)
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      status,
      {
        description: ofStatus.map((type) => `\`${type}\`: ${problem(type).title}.`).join(' '),
        content: {
          'application/problem+json': {
            schema: { $ref: '#/components/schemas/Problem' },
            examples: Object.fromEntries(ofStatus.map((type) => [type, { $ref: `#/components/examples/${type}` }])),
          },
        },
      },
    ]),
  )
}

// -- Schemas --------------------------------------------------------------------------------------------------------

/** A schema, with references to those of `named` that it contains. Checks that JSON Schema cannot say are left out. */
function jsonSchema(schema: Schema, typeMode: 'input' | 'output', named: Named = {}): Json {
  const config: ConversionConfig = {
    target: 'draft-2020-12',
    typeMode,
    errorMode: 'ignore',
    definitions: named as NonNullable<ConversionConfig['definitions']>,
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  }
  const { $schema: _, $defs: __, ...json } = toJsonSchema(schema as Parameters<typeof toJsonSchema>[0], config)
  return json
}

const without = (named: Named, name: string): Named =>
  Object.fromEntries(Object.entries(named).filter(([other]) => other !== name))

const mapped = <T>(all: Readonly<Record<string, T>>, make: (value: T, key: string) => unknown): Json =>
  Object.fromEntries(Object.entries(all).map(([key, value]) => [key, make(value, key)]))
