/**
 * The form in which both halves declare settings: a valibot schema with a description and, if there is one, a
 * default.
 */
import * as v from 'valibot'

export const required = <S extends v.GenericSchema>(schema: S, description: string) =>
  v.pipe(schema, v.description(description))

export const optional = <S extends v.GenericSchema<string, unknown>>(schema: S, description: string) =>
  v.pipe(v.optional(schema), v.description(description))

/** A setting with a default, which is written as the text that would be set. */
export const setting = <S extends v.GenericSchema<string, unknown>>(schema: S, preset: string, description: string) =>
  v.pipe(v.optional(schema, preset), v.description(description))

/** A setting with a default that bounds what a caller may do. */
export const limit = <S extends v.GenericSchema<string, unknown>>(schema: S, preset: string, description: string) =>
  v.pipe(setting(schema, preset, description), v.metadata({ isLimit: true }))

export interface SettingDoc {
  readonly name: string
  /** The default as text; absent if there is none. */
  readonly default?: string
  readonly description: string
  /** Present for a limit. */
  readonly isLimit?: true
}

/** The description of these settings for docs/settings.md. */
export function settingDocs(...schemas: { readonly entries: v.ObjectEntries }[]): readonly SettingDoc[] {
  return schemas.flatMap(({ entries }) =>
    Object.entries(entries).map(([name, schema]) => {
      const preset = 'default' in schema ? schema.default : undefined
      return {
        name,
        description: v.getDescription(schema) ?? '',
        ...(typeof preset === 'string' && { default: preset }),
        ...(v.getMetadata(schema).isLimit === true && { isLimit: true }),
      }
    }),
  )
}
