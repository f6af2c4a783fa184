/** The settings that the files of deploy/ set exist, and the origin starts with them. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { readConfig } from '../origin/base/config.ts'
import { newKeySet } from '../shared/keys.ts'

type Settings = Readonly<Record<string, string>>

const textOf = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')
const wordsIn = (text: string, form: RegExp) => [...text.matchAll(form)].map(([, word = '']) => word)
/** The names of the settings in a section of docs/settings.md. */
const settingsOf = (part: 'Origin' | 'Edge') => {
  const section = textOf('../docs/settings.md')
    .split(/^## /m)
    .find((text) => text.startsWith(part))
  return wordsIn(section ?? '', /^\| `(\w+)` \|/gm)
}
const [ORIGIN, EDGE] = [settingsOf('Origin'), settingsOf('Edge')]
const notOf = (settings: readonly string[], names: readonly string[]) =>
  names.filter((name) => !settings.includes(name))

/** The settings of an environment of Kubernetes, without its secrets. */
function literalsOf(environment: 'staging' | 'production'): Settings {
  const files = ['base', environment].map((folder) => parse(textOf(`kubernetes/${folder}/kustomization.yaml`)))
  const literals: string[] = files.flatMap((file) => file.configMapGenerator[0].literals)
  return Object.fromEntries(literals.map((literal) => literal.split(/=(.*)/s).slice(0, 2)))
}

const [secrets, migration]: [Settings, Settings] = parseAllDocuments(textOf('kubernetes/secrets.example.yaml')).map(
  (document) => document.toJS().stringData,
) as [Settings, Settings]
/** The secrets with keys in the place of the words that say what they are. */
const filled: Settings = Object.fromEntries(
  Object.entries(secrets).map(([name, value]) => {
    if (name.endsWith('_KEYS')) return [name, JSON.stringify(newKeySet())]
    return [name, /URL$/.test(name) ? value : `${value.split(/[ ,]/)[0]}_${'x'.repeat(40)}`]
  }),
)

interface Service {
  readonly image: string
  readonly command: readonly string[]
  readonly environment: Settings
  readonly stop_grace_period: string
  readonly read_only?: boolean
}
const compose: Readonly<Record<string, Service>> = parse(textOf('compose.yaml'), { merge: true }).services
const ours = Object.entries(compose).filter(([, { image }]) => image === 'flash-sale')
const secondsOf = (text: string) => Number(/^(\d+)s$/.exec(text)?.[1])
/** A process that stops finishes its work for so long after DRAIN_SECONDS. */
const STOP_SECONDS = 10

describe('Kubernetes', () => {
  test.each(['staging', 'production'] as const)('%s sets what is a setting, and the origin starts with it', (name) => {
    const set = { ...literalsOf(name), ...filled }
    expect(notOf(ORIGIN, Object.keys(set))).toEqual([])
    const { payment, warnings } = readConfig(set)
    expect(payment.provider).toBe(name === 'production' ? 'stripe' : 'sandbox')
    expect(warnings.filter((warning) => !warning.includes('sandbox'))).toEqual([])
  })

  test('what is secret is in no file but the example, whose values are none', () => {
    const open = { ...literalsOf('staging'), ...literalsOf('production') }
    expect(Object.keys(open).filter((name) => name in secrets)).toEqual([])
    expect(Object.keys(migration)).toEqual(['DATABASE_URL'])
    expect(wordsIn(textOf('kubernetes/secrets.example.yaml'), /:\/\/\w*:(\w+)@/g)).toEqual(Array(4).fill('PASSWORD'))
  })

  test('a pod has the time to drain and to finish', () => {
    for (const part of ['api', 'worker']) {
      const [{ spec }] = parseAllDocuments(textOf(`kubernetes/base/${part}.yaml`)).map((document) => document.toJS())
      const grace: number = spec.template.spec.terminationGracePeriodSeconds
      expect(grace).toBeGreaterThan(Number(literalsOf('production').DRAIN_SECONDS) + STOP_SECONDS)
    }
  })
})

describe('compose.yaml', () => {
  test('sets what is a setting, and the origin starts with it', () => {
    expect(ours.map(([name, { command }]) => [name, command])).toEqual([
      ...['api', 'worker', 'migrate'].map((name) => [name, [name]]),
    ])
    const asked = wordsIn(textOf('compose.yaml'), /\$\{(\w+)/g)
    expect([...new Set(notOf(ORIGIN, asked))]).toEqual(['POSTGRES_PASSWORD'])
    for (const [, { environment }] of ours) {
      expect(notOf(ORIGIN, Object.keys(environment))).toEqual([])
      const exampleOf = (name: string, preset = '') =>
        filled[name] ?? (name.endsWith('_URL') ? 'https://a.example' : preset)
      const set = Object.entries(environment).map(([name, text]) => [
        name,
        text.replace(/\$\{(\w+)(?::[?-](\w*))?\}/g, (_, word, preset) => exampleOf(word, preset)),
      ])
      expect(readConfig(Object.fromEntries(set)).payment.provider).toBe('stripe')
    }
  })

  test('a process has the time to drain and to finish, and a root that is read-only', () => {
    for (const [, { environment, stop_grace_period, read_only }] of ours) {
      expect(secondsOf(stop_grace_period)).toBeGreaterThan(Number(environment.DRAIN_SECONDS) + STOP_SECONDS)
      expect(read_only).toBe(true)
    }
  })
})

test('the image sets what is a setting', () => {
  const [line = ''] = wordsIn(textOf('Containerfile'), /^ENV (.*)$/gm)
  expect(notOf(ORIGIN, wordsIn(line, /(\w+)=/g))).toEqual([])
})

test('Terraform makes secrets that are settings', () => {
  const names = wordsIn(textOf('terraform/main.tf'), /^ {4}([A-Z][A-Z_]+) +=/gm)
  expect(names).toEqual(['DATABASE_URL', 'REDIS_URL', 'DATABASE_URL'])
  expect(notOf(ORIGIN, names)).toEqual([])
})

test('each environment of the edge sets what is a setting, and what has no default', () => {
  const environments = textOf('../wrangler.toml')
    .split(/^\[env\./m)
    .slice(1)
  expect(environments.map((text) => text.split(']')[0])).toEqual(['staging', 'production'])
  for (const text of environments) {
    const names = wordsIn(/^vars = \{(.*)\}$/m.exec(text)?.[1] ?? '', /(\w+) = /g)
    expect(notOf(EDGE, names)).toEqual([])
    expect(names).toEqual(expect.arrayContaining(['ORIGIN_URL', 'PAYMENT_PAGE', 'PUBLIC_URL']))
  }
})
