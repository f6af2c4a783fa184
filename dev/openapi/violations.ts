/** Holds an answer against a document, as the tests do with each that they get. */
import { Validator } from '@cfworker/json-schema'

type Json = Record<string, unknown>

interface DescribedAnswer {
  readonly $ref?: string
  readonly content?: Readonly<Record<string, { readonly schema?: object; readonly examples?: object }>>
}

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses?: Readonly<Record<string, DescribedAnswer>> }>>>
  >
  /** The messages that are sent, by their type. */
  readonly webhooks?: Readonly<Record<string, { readonly post: { readonly requestBody: DescribedAnswer } }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly responses: Readonly<Record<string, DescribedAnswer>>
  }
}

export interface GivenAnswer {
  readonly method: string
  /** The path, with or without a query. */
  readonly path: string
  readonly status: number
  /** The Content-Type. */
  readonly type: string
  readonly body: unknown
}

/** Answers of any call: an unknown path or method, and what a server says before any route is chosen. */
const OF_ANY = new Set(['not-found', 'method-not-allowed', 'headers-too-large', 'unknown-sale', 'unknown-order'])

export class Answers {
  readonly #routes: readonly { readonly pattern: RegExp; readonly methods: Document['paths'][string] }[]
  readonly #schemas: Document['components']['schemas']
  readonly #responses: Document['components']['responses']
  readonly #webhooks: NonNullable<Document['webhooks']>
  readonly #validators = new Map<object, Validator>()

  constructor(document: object) {
    const { paths, webhooks = {}, components } = document as Document
    this.#schemas = closed(components.schemas) as Document['components']['schemas']
    this.#responses = components.responses
    this.#webhooks = webhooks
    // A path without a parameter is found before one with.
    const byParameters = Object.entries(paths).toSorted(([a], [b]) => a.split('{').length - b.split('{').length)
    this.#routes = byParameters.map(([path, methods]) => ({
      pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
      methods,
    }))
  }

  /** What the document does not allow; empty for a path that it does not have, and for what is not JSON. */
  violations({ method, path, status, type, body }: GivenAnswer): string[] {
    const [bare = ''] = path.split('?')
    const route = this.#routes.find(({ pattern }) => pattern.test(bare))
    const described = route?.methods[method.toLowerCase()]?.responses
    if (!described || type.startsWith('text/html')) return []
    const what = `${method} ${bare} ${status}`
    const { $ref: reference } = described[status] ?? {}
    const answer = reference ? this.#responses[reference.split('/').at(-1) ?? ''] : described[status]
    const isProblem = type.startsWith('application/problem+json')
    if (isProblem) {
      const problem = String((body as Json).type).replace('/problems/', '')
      const types = Object.keys(answer?.content?.['application/problem+json']?.examples ?? {})
      if (!types.includes(problem) && !OF_ANY.has(problem)) return [`${what}: the problem ${problem} is not described`]
      return []
    }
    if (!answer) return [`${what}: the status is not described`]
    const schema = answer.content?.['application/json']?.schema
    return schema && type.startsWith('application/json') ? this.#violationsOf(schema, body, what) : []
  }

  /** What the document does not allow in a message that was sent. */
  messageViolations(message: { readonly type: string }): string[] {
    const schema = this.#webhooks[message.type]?.post.requestBody.content?.['application/json']?.schema
    if (!schema) return [`the message ${message.type} is not described`]
    return this.#violationsOf(schema, message, message.type)
  }

  #violationsOf(schema: object, body: unknown, what: string): string[] {
    const { valid, errors } = this.#validatorOf(schema).validate(body)
    return valid ? [] : errors.slice(-2).map(({ instanceLocation, error }) => `${what}: ${instanceLocation} ${error}`)
  }

  #validatorOf(schema: object): Validator {
    const known = this.#validators.get(schema)
    if (known) return known
    const whole = { ...(closed(schema) as object), components: { schemas: this.#schemas } }
    const made = new Validator(whole, '2020-12')
    this.#validators.set(schema, made)
    return made
  }
}

/** The same schemas without room for properties that are not named: a new field must be described. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const parts = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  return 'properties' in parts && !('additionalProperties' in parts) ? { ...parts, additionalProperties: false } : parts
}
