/** The environment of a process as settings: those that are empty are absent, and those in files are read. */
import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { url } from './setting-forms.ts'

export type Env = Readonly<Record<string, string | undefined>>

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

export const DatabaseUrl = url(/^postgres(ql)?:/, 'a postgres:// URL')

/**
 * The settings that are set. `NAME_FILE` names a file with the value of the setting NAME, as secrets of Docker and
 * Kubernetes come. What is wrong with one of `names` is added to the errors.
 */
export function withFiles(env: Env, names: readonly string[], errors: string[]): Record<string, string | undefined> {
  const set: Env = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const all = { ...set }
  for (const name of names) {
    const file = set[`${name}_FILE`]
    if (file === undefined) continue
    if (set[name] !== undefined) errors.push(`${name}: is set, and ${name}_FILE too`)
    try {
      all[name] = readFileSync(file, 'utf8').trim()
    } catch (error) {
      errors.push(`${name}_FILE: cannot be read (${(error as NodeJS.ErrnoException).code})`)
    }
  }
  return all
}

/** The address of the ledger, for commands that need no other settings. */
export const readDatabaseUrl = (env: Env) => readAddress(env, 'DATABASE_URL', DatabaseUrl)

/** Throws ConfigError with a line for each fault. */
export function readAddress(env: Env, name: string, schema: v.GenericSchema<string>): string {
  const errors: string[] = []
  const address = withFiles(env, [name], errors)[name] ?? ''
  const parsed = v.safeParse(schema, address)
  if (!parsed.success) errors.push(`${name}: ${parsed.issues[0].message}`)
  if (errors.length > 0) throw new ConfigError(errors.join('\n'))
  return address
}
