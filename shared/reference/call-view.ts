/** Shows one call or message: what it takes, what it is answered with, and a form to try it. */

import {
  type Call,
  type Content,
  type Document,
  examplesOf,
  type Parameter,
  type Response,
  resolved,
} from '../openapi.ts'
import { codeBlock, el, inline, later, pretty, prose } from './dom.ts'
import { schemaView, typeOf } from './schema-view.ts'
import { type Keys, tryForm } from './try-form.ts'

/** A call, closed at first. Its id is that of the operation, so that links lead to it. */
export function callView(document: Document, call: Call, keys: Keys): HTMLDetailsElement {
  const { path, method, operation, isMessage } = call
  const words = [operation.summary, path, method, operation.operationId].join(' ').toLowerCase()
  return later(
    { class: 'call', id: operation.operationId, 'data-words': words },
    [
      el('span', { class: `method ${isMessage ? 'message' : method}` }, isMessage ? 'sends' : method.toUpperCase()),
      el('span', { class: 'what' }, el('code', {}, ...breakable(path)), el('span', {}, operation.summary)),
    ],
    () => [
      ...prose(operation.description),
      callers(document, call),
      parameters(document, operation.parameters ?? []),
      body(document, call),
      answers(document, call),
      isMessage ? null : tryForm(document, call, keys),
    ],
  )
}

/** A path that may break after each slash. */
const breakable = (path: string) => path.split(/(?<=\/)/).flatMap((part) => [part, el('wbr')])

function callers({ components }: Document, { operation, isMessage }: Call): HTMLElement | null {
  if (isMessage) return null
  const security = operation.security ?? []
  const names = security.flatMap((one) => Object.keys(one))
  if (names.length === 0) return el('p', { class: 'callers' }, 'For anyone.')
  const rows = names.map((name) =>
    el('li', {}, el('strong', {}, name), ' ', ...inline(components.securitySchemes?.[name]?.description)),
  )
  const also = security.some((one) => Object.keys(one).length === 0) ? ' Also without any of them.' : ''
  return el(
    'div',
    { class: 'callers' },
    el('h4', {}, 'Callers'),
    el('ul', {}, ...rows),
    also ? el('p', {}, also) : null,
  )
}

function parameters(document: Document, all: readonly Parameter[]): HTMLElement | null {
  if (all.length === 0) return null
  const rows = all.map(({ name, in: place, description, required, schema }) =>
    el(
      'li',
      {},
      el('code', { class: 'name' }, name),
      el('span', { class: 'type' }, schema ? typeOf(document, schema) : 'text'),
      el('span', { class: 'optional' }, required ? place : `${place}, optional`),
      description ? el('span', { class: 'about' }, ...inline(description)) : null,
    ),
  )
  return el('div', {}, el('h4', {}, 'Parameters'), el('ul', { class: 'fields' }, ...rows))
}

function body(document: Document, { operation, isMessage }: Call): HTMLElement | null {
  const { requestBody } = operation
  if (!requestBody) return null
  const title = isMessage ? 'Message' : requestBody.required === false ? 'Body, which may be left out' : 'Body'
  return el(
    'div',
    {},
    el('h4', {}, title),
    ...prose(requestBody.description),
    ...contentViews(document, requestBody.content),
  )
}

function contentViews(document: Document, content: Content): HTMLElement[] {
  return Object.entries(content).flatMap(([type, media]) => {
    const examples = examplesOf(document, media)
    const isPlain = media.schema?.type === 'string' && media.schema.description === undefined
    return [
      el('p', { class: 'media' }, el('code', {}, type)),
      ...(media.schema && !isPlain ? [schemaView(document, media.schema)] : []),
      ...examples.map((example, i) => codeBlock(pretty(example), `Example ${i + 1}, ${type}`)),
    ]
  })
}

function answers(document: Document, { operation }: Call): HTMLElement {
  const rows = Object.entries(operation.responses).map(([status, response]) =>
    answerView(document, status, resolved(document, response)),
  )
  return el('div', {}, el('h4', {}, 'Answers'), ...rows)
}

function answerView(document: Document, status: string, response: Response): HTMLElement {
  const { description, headers = {}, content = {} } = response
  const kind = status.startsWith('2') ? 'good' : status.startsWith('3') ? 'other' : 'bad'
  const summary = [el('span', { class: `status ${kind}` }, status), el('span', {}, ...inline(description))]
  const isEmpty = Object.keys(headers).length + Object.keys(content).length === 0
  if (isEmpty) return el('p', { class: 'answer' }, ...summary)
  return later({ class: 'answer' }, summary, () => [
    ...Object.entries(headers).map(([name, header]) =>
      el('p', {}, el('code', {}, name), ' ', ...inline(header.description)),
    ),
    ...contentViews(document, content),
  ])
}
