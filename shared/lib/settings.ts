/** Settings as both halves declare them: a valibot schema with a description and, where there is one, a default. */
import * as v from 'valibot'

export const required = <S extends v.GenericSchema>(schema: S, description: string) =>
  v.pipe(schema, v.description(description))

export const optional = <S extends v.GenericSchema<string, unknown>>(schema: S, description: string) =>
  v.pipe(v.optional(schema), v.description(description))

/** One with a default, as the text that would be set. */
export const setting = <S extends v.GenericSchema<string, unknown>>(schema: S, preset: string, description: string) =>
  v.pipe(v.optional(schema, preset), v.description(description))

export interface SettingDoc {
  readonly name: string
  /** As text; absent where there is none. */
  readonly default?: string
  readonly description: string
}

/** What docs/settings.md says of the settings in these schemas. */
export function settingDocs(...schemas: { readonly entries: v.ObjectEntries }[]): readonly SettingDoc[] {
  return schemas.flatMap(({ entries }) =>
    Object.entries(entries).map(([name, schema]) => {
      const preset = 'default' in schema ? schema.default : undefined
      return {
        name,
        description: v.getDescription(schema) ?? '',
        ...(typeof preset === 'string' && { default: preset }),
      }
    }),
  )
}
