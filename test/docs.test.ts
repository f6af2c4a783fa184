/** The documents match the code that they describe. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Stripe from 'stripe'
import { expect, it } from 'vitest'
import { SETTINGS_PAGE, settingsPage } from '../dev/settings-page.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const docs = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))
const pages = ['README.md', ...docs.map((name) => `docs/${name}`)]
const textOf = (page: string) => readFileSync(join(ROOT, page), 'utf8')
const matches = (text: string, form: RegExp) => [...text.matchAll(form)].map(([, found = '']) => found)

it('docs/settings.md is what the schemas say: `npm run settings` writes it', () => {
  expect(readFileSync(SETTINGS_PAGE, 'utf8')).toBe(settingsPage())
})

it('Stripe’s script is of the same release as its library: tokens of the one are charged by the other', () => {
  const released = matches(textOf('docs/settings.md'), /https:\/\/js\.stripe\.com\/(\w+)\/stripe\.js/g)
  expect(released).toEqual([Stripe.API_VERSION.split('.')[1]])
})

it('docs/deploying.md names each call to Stripe, for a restricted key, the version and the webhooks', () => {
  const page = textOf('docs/deploying.md')
  const provider = textOf('origin/providers/stripe.ts')
  const calls = matches(provider, /\bstripe\.(\w+\.\w+)\(/g).filter((call) => !/^(errors|webhooks)\./.test(call))
  const named = matches(page, /`((?:paymentIntents|refunds|events)\.\w+)`/g)
  expect(named.toSorted()).toEqual([...new Set(calls)].toSorted())
  expect(page).toContain(`\`${Stripe.API_VERSION}\``)
  const events = matches(provider, /^ {2}'((?:payment_intent|charge|refund)\.\w+)',$/gm)
  const heard = events.filter((event) => page.includes(`\`${event}\``) || page.includes(`\`.${event.split('.')[1]}\``))
  expect(heard).toEqual(events)
  expect(events).toHaveLength(7)
})

it('every file that a document names exists', () => {
  const missing = pages.flatMap((page) => [
    ...matches(textOf(page), /`((?:edge|origin|shared|dev|bench|test|docs|examples|deploy|vendor)\/[^`\s{}]*)`/g)
      .filter((path) => globSync(path, { cwd: ROOT }).length === 0)
      .map((path) => `${page}: ${path}`),
    ...matches(textOf(page), /\]\((?!https?:)([^)#]+)\)/g)
      .filter((path) => !existsSync(join(ROOT, page, '..', path)))
      .map((path) => `${page}: ${path}`),
  ])
  expect(missing).toEqual([])
})

it('docs/sign-in.md shows the token route as a test runs it', () => {
  const shown = matches(textOf('docs/sign-in.md'), /^```ts\n([\s\S]*?)^```$/gm)
  const files = ['line-session', 'auth-js', 'iron-session'].map((name) => textOf(`examples/token-route/${name}.ts`))
  expect(shown).toEqual(files.map((text) => text.slice(text.indexOf('import '))))
})

it('every npm script that a document names exists, and the README fits three screens', () => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
  const named = pages.flatMap((page) => matches(textOf(page), /npm run ([\w:-]+)/g))
  expect(named.filter((name) => !(name in scripts))).toEqual([])
  expect(textOf('README.md').split('\n').length).toBeLessThanOrEqual(150)
})
