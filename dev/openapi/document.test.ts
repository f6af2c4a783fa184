/** The documents say what the servers do, and are as their linter likes them. */
import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, test } from 'vitest'
import { ROUTES } from '../../edge/routes.ts'
import { problem } from '../../shared/problem.ts'
import { buyersDocument, buyersOperations, NOT_DESCRIBED } from './buyers.ts'
import { DOCUMENTS, textOf } from './openapi.ts'
import { Answers } from './violations.ts'

const templateOf = (pattern: string) => pattern.replace(/:(\w+)/g, '{$1}')
const routes = Object.entries(ROUTES).map(([pattern, { methods }]) => ({
  path: templateOf(pattern),
  methods: Object.keys(methods).map((method) => method.toLowerCase()),
}))

describe.each(Object.entries(DOCUMENTS))('%s', (path, make) => {
  test('is committed as the code makes it: `npm run openapi` writes it', () => {
    expect(readFileSync(path, 'utf8')).toBe(textOf(make()))
  })

  test('has nothing that Redocly finds', async () => {
    const config = await createConfig({ extends: ['recommended'] })
    const found = await lintFromString({ source: textOf(make()), config, absoluteRef: path })
    expect(found.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
  })
})

test('every call of the edge is described, or has a reason why not', () => {
  const described = Object.entries(buyersOperations).map(([path, methods]) => ({ path, methods: Object.keys(methods) }))
  const open = routes.filter(({ path }) => !(path in NOT_DESCRIBED))
  const sorted = (all: typeof open) =>
    all.map(({ path, methods }) => `${path} ${methods.toSorted().join(' ')}`).toSorted()
  expect(sorted(described)).toEqual(sorted(open))
  expect(Object.keys(NOT_DESCRIBED).filter((path) => !routes.some((route) => route.path === path))).toEqual([])
})

describe('an answer', () => {
  const answers = new Answers(buyersDocument())
  const given = { method: 'GET', path: '/search/suggest?q=a', status: 200, type: 'application/json' }

  test('is as described, also in each example of the document', () => {
    expect(answers.violations({ ...given, body: { query: 'a', completions: ['ab'] } })).toEqual([])
    for (const [path, methods] of Object.entries(buyersOperations))
      for (const [method, { answers: described }] of Object.entries(methods))
        for (const [status, { example }] of Object.entries(described))
          if (example !== undefined) {
            const answer = { ...given, method, path: path.replaceAll(/[{}]/g, ''), status: Number(status) }
            expect(answers.violations({ ...answer, body: example })).toEqual([])
          }
  })

  test('with another field, without one, of another status or with another problem is not', () => {
    const problems = (type: 'sold-out' | 'too-many-requests') => {
      const { status } = problem(type)
      return answers.violations({ ...given, status, type: 'application/problem+json', body: problem(type) })
    }
    expect(answers.violations({ ...given, body: { query: 'a', completions: [], more: 1 } })).not.toEqual([])
    expect(answers.violations({ ...given, body: { query: 'a' } })).not.toEqual([])
    expect(answers.violations({ ...given, status: 201, body: {} })).not.toEqual([])
    expect(problems('sold-out')).not.toEqual([])
    expect(problems('too-many-requests')).toEqual([])
  })
})
