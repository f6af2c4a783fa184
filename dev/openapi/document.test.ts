/** The documents say what the servers do, and are as their linter likes them. */
import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, test } from 'vitest'
import { ROUTES } from '../../edge/routes.ts'
import { createApp } from '../../origin/app.ts'
import { createRoutes } from '../../origin/routes.ts'
import { problem } from '../../shared/problem.ts'
import { buyersOperations, NOT_DESCRIBED } from './buyers.ts'
import { DOCUMENTS, FILES, textOf } from './openapi.ts'
import { ORIGIN_NOT_DESCRIBED, operatorsOperations } from './operators/operators-document.ts'
import { Answers } from './violations.ts'
import { HOOKS } from './webhooks.ts'

const templateOf = (pattern: string) => pattern.replace(/:(\w+)/g, '{$1}')
const routes = Object.entries(ROUTES).map(([pattern, { methods }]) => ({
  path: templateOf(pattern),
  methods: Object.keys(methods).map((method) => method.toLowerCase()),
}))

test.each(Object.entries(FILES))('%s is committed as the code makes it: `npm run openapi` writes it', (path, text) => {
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test.each(Object.entries(DOCUMENTS))('%s has nothing that Redocly finds', async (path, document) => {
  const config = await createConfig({ extends: ['recommended'] })
  const found = await lintFromString({ source: textOf(document), config, absoluteRef: path })
  expect(found.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
})

test('every call of the edge is described, or has a reason why not', () => {
  const described = Object.entries(buyersOperations).map(([path, methods]) => ({ path, methods: Object.keys(methods) }))
  const open = routes.filter(({ path }) => !(path in NOT_DESCRIBED))
  const sorted = (all: typeof open) =>
    all.map(({ path, methods }) => `${path} ${methods.toSorted().join(' ')}`).toSorted()
  expect(sorted(described)).toEqual(sorted(open))
  expect(Object.keys(NOT_DESCRIBED).filter((path) => !routes.some((route) => route.path === path))).toEqual([])
})

test('every call of the origin is described, or has a reason why not', () => {
  const { ofOperators, ofBuyers } = createRoutes(anything)
  const described = new Set(
    [buyersOperations, operatorsOperations].flatMap((operations) =>
      Object.entries(operations).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      ),
    ),
  )
  const reasons = Object.keys(ORIGIN_NOT_DESCRIBED)
  const routed = createApp({ log: anything, routes: { ...ofOperators, ...ofBuyers } })
    .routes.filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => ({ path: templateOf(path), call: `${method} ${templateOf(path)}` }))
  expect(routed.length).toBeGreaterThan(120)
  const missing = routed.filter(
    ({ path, call }) => !described.has(call) && !reasons.some((part) => path.startsWith(part)),
  )
  expect(missing).toEqual([])
  const unused = reasons.filter((part) => !routed.some(({ path }) => path.startsWith(part)))
  expect(unused).toEqual([])
  const calls = new Set(routed.map(({ call }) => call))
  expect([...described].filter((call) => call.includes(' /admin/') && !calls.has(call))).toEqual([])
})

test('the document that the origin serves has what a shop that takes the money itself calls and is sent', () => {
  const { 'docs/openapi/operators.json': served, 'docs/openapi/payments.json': payments } = DOCUMENTS
  expect(served).toMatchObject({ paths: payments.paths, webhooks: payments.webhooks })
  // The client of operators has no such calls, since they are not made by the key of an operator.
  expect(FILES['client/src/types/operators.ts']).not.toContain('confirmHold')
})

/** It stands for each part of the origin, since no route is called. */
const anything: Parameters<typeof createRoutes>[0] & Parameters<typeof createApp>[0]['log'] = new Proxy(() => {}, {
  get: (_, name) => (name in known ? known[name as keyof typeof known] : anything),
  apply: () => anything,
}) as never
const known = {
  config: { ADMIN_TOKEN: '', EDGE_TOKEN: '', payment: { perSecond: null } },
  sources: [{ name: 'sandbox' }],
  [Symbol.iterator]: () => [][Symbol.iterator](),
}

test('a message is as described, also in each example of the document', () => {
  const answers = new Answers(DOCUMENTS['docs/openapi/operators.json'])
  for (const { example } of Object.values(HOOKS))
    expect(answers.messageViolations(example as { readonly type: string })).toEqual([])
  expect(
    answers.messageViolations({ ...(HOOKS['order.paying']?.example as { type: string }), type: 'order.lost' }),
  ).toEqual(['the message order.lost is not described'])
  expect(answers.messageViolations({ type: 'order.paying' })).not.toEqual([])
})

describe('an answer', () => {
  const answers = new Answers(DOCUMENTS['docs/openapi/buyers.json'])
  const given = { method: 'GET', path: '/search/suggest?q=a', status: 200, type: 'application/json' }

  test('is as described, also in each example of the document', () => {
    expect(answers.violations({ ...given, body: { query: 'a', completions: ['ab'] } })).toEqual([])
    for (const [operations, document] of [
      [buyersOperations, answers],
      [operatorsOperations, new Answers(DOCUMENTS['docs/openapi/operators.json'])],
    ] as const)
      for (const [path, methods] of Object.entries(operations))
        for (const [method, { answers: described }] of Object.entries(methods))
          for (const [status, { example }] of Object.entries(described))
            if (example !== undefined) {
              const answer = { ...given, method, path: path.replaceAll(/[{}]/g, ''), status: Number(status) }
              expect(document.violations({ ...answer, body: example })).toEqual([])
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
