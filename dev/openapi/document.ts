/**
 * Makes an OpenAPI 3.1 document (spec.openapis.org/oas/v3.1.1) from operations, whose bodies are the Valibot schemas
 * that the routes themselves parse. Pure.
 */
import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import type { Role } from '../../shared/api/operators/roles.ts'
import { type ProblemType, problem } from '../../shared/problem.ts'

export type Schema = v.GenericSchema
type Json = Record<string, unknown>

/** How a caller says who it is. */
export type Caller = 'queue' | 'admission' | 'order' | 'shop' | 'key' | 'session' | 'signature'

export interface Parameter {
  readonly schema: Schema
  readonly description: string
  readonly required?: true
}

interface Body {
  /** What a JSON body is; left out if the call takes files only. */
  readonly schema?: Schema
  readonly description: string
  readonly example?: unknown
  readonly optional?: true
  /** The same JSON may be sent in these media types as well. */
  readonly also?: readonly string[]
  /** The media types of files that may be sent instead, each with an example. */
  readonly files?: Readonly<Record<string, string | null>>
}

export interface Answer {
  readonly description: string
  /** What a JSON body is. */
  readonly schema?: Schema
  readonly example?: unknown
  /** The media types of a body that is not JSON. */
  readonly types?: readonly string[]
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
  /** The role that the caller needs. */
  readonly role?: Role
  readonly query?: Readonly<Record<string, Parameter>>
  readonly headers?: Readonly<Record<string, Parameter>>
  readonly body?: Body
  readonly answers: Readonly<Record<number, Answer>>
  /** Problems of this call, besides those of every call. */
  readonly problems: readonly ProblemType[]
}

/** Operations by path and method, for example `{ '/sales/{sale}': { get: .. } }`. */
export type Operations = Readonly<Record<string, Readonly<Partial<Record<Method, Operation>>>>>
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** A call that the origin makes. */
export interface Webhook {
  readonly id: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  readonly headers: Readonly<Record<string, Parameter>>
  readonly schema: Schema
  readonly example: unknown
  readonly answers: Readonly<Record<string, string | Answer>>
}

export interface DocumentParts {
  readonly info: Json
  readonly servers: readonly Json[]
  readonly tags: readonly Json[]
  readonly pathParameters: Readonly<Record<string, Parameter>>
  readonly callers: Readonly<Partial<Record<Caller, Json>>>
  /** The schemas that have a name of their own in the document: bodies as they are sent, and answers. */
  readonly sent: Named
  readonly answered: Named
  readonly operations?: Operations
  readonly webhooks?: Readonly<Record<string, Webhook>>
}

type Named = Readonly<Record<string, Schema>>

/** Every call may be answered with these. */
const ALWAYS: readonly ProblemType[] = ['invalid-request', 'internal-error', 'try-again']

export function documentOf(parts: DocumentParts): Json {
  const { info, servers, tags, callers, sent, answered, operations, webhooks } = parts
  const problems = operations && usedProblems(operations)
  return {
    openapi: '3.1.1',
    info,
    servers,
    tags,
    ...(operations && {
      paths: mapped(operations, (methods, path) => ({
        parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) =>
          parameter(name, 'path', parts.pathParameters),
        ),
        ...mapped(methods as Record<string, Operation>, (operation) => operationOf(operation, parts)),
      })),
    }),
    ...(webhooks && { webhooks: mapped(webhooks, (webhook) => ({ post: webhookOf(webhook, answered) })) }),
    components: {
      securitySchemes: callers,
      schemas: {
        ...mapped(sent, (schema, name) => jsonSchema(schema, 'input', without(sent, name))),
        ...mapped(answered, (schema, name) => jsonSchema(schema, 'output', without(answered, name))),
        ...(problems && { Problem: PROBLEM }),
      },
      ...(operations && { responses: responsesOf(operations) }),
      ...(problems && { examples: Object.fromEntries([...problems].map((type) => [type, { value: problem(type) }])) }),
    },
  }
}

function operationOf({ callers = [], ...operation }: Operation, { sent, answered }: DocumentParts): Json {
  const { id, tag, summary, description, anyone, role, query = {}, headers = {}, body } = operation
  const scopes = role === undefined ? [] : [role]
  const told = [description, role && `Role: \`${role}\`.`].filter(Boolean).join('\n\n')
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(told && { description: told }),
    security: [...callers.map((caller) => ({ [caller]: scopes })), ...(anyone || callers.length === 0 ? [{}] : [])],
    parameters: [
      ...Object.keys(query).map((name) => parameter(name, 'query', query)),
      ...Object.keys(headers).map((name) => parameter(name, 'header', headers)),
    ],
    ...(body && {
      requestBody: {
        description: body.description,
        required: !body.optional,
        content: contentOf(body, sent),
      },
    }),
    responses: {
      ...mapped(operation.answers, (answer) => answerOf(answer, answered)),
      ...problemsOf(operation.problems),
    },
  }
}

function contentOf({ schema, example, also = [], files = {} }: Body, sent: Named): Json {
  const media = schema && {
    schema: jsonSchema(schema, 'input', sent),
    ...(example !== undefined && { example }),
  }
  return {
    ...(media && Object.fromEntries(['application/json', ...also].map((type) => [type, media]))),
    ...mapped(files, (text) => (text === null ? {} : { schema: { type: 'string' }, example: text })),
  }
}

function webhookOf({ id, tag, summary, description, headers, schema, example, answers }: Webhook, named: Named): Json {
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: [],
    parameters: Object.keys(headers).map((name) => parameter(name, 'header', headers)),
    requestBody: {
      description: 'The message.',
      required: true,
      content: { 'application/json': { schema: jsonSchema(schema, 'output', named), example } },
    },
    responses: mapped(answers, (answer) =>
      typeof answer === 'string' ? { description: answer } : answerOf(answer, named),
    ),
  }
}

function parameter(name: string, place: 'path' | 'query' | 'header', all: Readonly<Record<string, Parameter>>): Json {
  const found = all[name]
  if (!found) throw new Error(`The parameter ${name} is not described.`)
  const { description, schema, required } = found
  const isRequired = place === 'path' || required === true
  return { name, in: place, description, required: isRequired, schema: jsonSchema(schema, 'input') }
}

function answerOf({ description, schema, example, types = [], headers }: Answer, named: Named): Json {
  const content = {
    ...(schema && {
      'application/json': { schema: jsonSchema(schema, 'output', named), ...(example !== undefined && { example }) },
    }),
    ...Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' } }])),
  }
  return {
    description,
    ...(headers && { headers: mapped(headers, (text) => ({ description: text, schema: { type: 'string' } })) }),
    ...(Object.keys(content).length > 0 && { content }),
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
    request_id: { type: 'string', description: 'The same as the header x-request-id: the request in the logs.' },
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

const operationsIn = (operations: Operations) => Object.values(operations).flatMap((methods) => Object.values(methods))

const usedProblems = (operations: Operations): ReadonlySet<ProblemType> =>
  new Set([...operationsIn(operations).flatMap(({ problems }) => problems), ...ALWAYS])

/** The types of problems that a call may be answered with, by status. */
const byStatus = (types: readonly ProblemType[]) =>
  [...Map.groupBy(new Set([...types, ...ALWAYS]), (type) => problem(type).status)].map(
    ([status, ofStatus]) => [status, ofStatus.toSorted()] as const,
  )

const responseName = (types: readonly ProblemType[]) => types.join('.')

const problemsOf = (types: readonly ProblemType[]): Json =>
  Object.fromEntries(
    byStatus(types).map(([status, ofStatus]) => [status, { $ref: `#/components/responses/${responseName(ofStatus)}` }]),
  )

/** The responses that calls refer to, each type of problem with an example. */
function responsesOf(operations: Operations): Json {
  const all = operationsIn(operations).flatMap(({ problems }) => byStatus(problems).map(([, types]) => types))
  return Object.fromEntries(
    all.map((types) => [
      responseName(types),
      {
        description: types.map((type) => `\`${type}\`: ${problem(type).title}.`).join(' '),
        content: {
          'application/problem+json': {
            schema: { $ref: '#/components/schemas/Problem' },
            examples: Object.fromEntries(types.map((type) => [type, { $ref: `#/components/examples/${type}` }])),
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
