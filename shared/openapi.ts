/** The parts of an OpenAPI document (spec.openapis.org/oas/v3.1.1) of which the page `/api` and the client are made. */

export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: Schema | false
  readonly prefixItems?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

interface Reference {
  readonly $ref?: string
}

export interface Media {
  readonly schema?: Schema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, Reference & { readonly value?: unknown }>>
}

export type Content = Readonly<Record<string, Media>>

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description?: string
  readonly required?: boolean
  readonly schema?: Schema
}

export interface Response extends Reference {
  readonly description?: string
  readonly headers?: Readonly<Record<string, { readonly description?: string }>>
  readonly content?: Content
}

export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly description?: string; readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
}

export type PathItem = Readonly<Partial<Record<Method, Operation>>> & { readonly parameters?: readonly Parameter[] }
export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const
export type Method = (typeof METHODS)[number]

export interface SecurityScheme {
  readonly type: string
  readonly scheme?: string
  readonly description?: string
}

export interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly tags?: readonly { readonly name: string; readonly description?: string }[]
  readonly paths?: Readonly<Record<string, PathItem>>
  readonly webhooks?: Readonly<Record<string, PathItem>>
  readonly components: {
    readonly schemas?: Readonly<Record<string, Schema>>
    readonly responses?: Readonly<Record<string, Response>>
    readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>
    readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>
  }
}

/** A call, or a message: everything under one method of one path. */
export interface Call {
  readonly path: string
  readonly method: Method
  /** The operation with the parameters of its path as well. */
  readonly operation: Operation
  readonly isMessage: boolean
}

export function callsIn({ paths = {}, webhooks = {} }: Document): Call[] {
  const of = (items: Readonly<Record<string, PathItem>>, isMessage: boolean) =>
    Object.entries(items).flatMap(([path, item]) =>
      METHODS.flatMap((method) => {
        const own = item[method]
        if (!own) return []
        const operation = { ...own, parameters: [...(item.parameters ?? []), ...(own.parameters ?? [])] }
        return [{ path, method, operation, isMessage }]
      }),
    )
  return [...of(paths, false), ...of(webhooks, true)]
}

/** What a reference leads to (`#/components/..`), or the object itself, with the name of what was found. */
export function resolved<T extends Reference>({ components }: Document, object: T): T & { readonly named?: string } {
  const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(.+)$/.exec(object.$ref ?? '') ?? []
  const found = (components as Readonly<Record<string, Readonly<Record<string, T>>>>)[kind]?.[name]
  return found ? { ...found, named: name } : object
}

/** The examples of a media type. */
export const examplesOf = (document: Document, { example, examples = {} }: Media): unknown[] => [
  ...(example === undefined ? [] : [example]),
  ...Object.values(examples).map((one) => resolved(document, one).value),
]
