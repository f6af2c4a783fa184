/** A form that makes a call from the page, and shows its answer as it comes. The call is a real one. */

import { type Call, type Document, examplesOf, type Parameter } from '../openapi.ts'
import { codeBlock, el, pretty } from './dom.ts'

/** The keys and tokens that a reader has typed, by the name of the security scheme. They stay in this page's memory. */
export type Keys = Map<string, string>

/** An answer is shown up to this many characters. */
const MAX_SHOWN = 200_000

export function tryForm(document: Document, call: Call, keys: Keys): HTMLElement {
  const { method, operation } = call
  const fields = new Map((operation.parameters ?? []).map((one) => [one, parameterField(operation.operationId, one)]))
  const body = bodyField(document, call)
  const send = el('button', { type: 'submit' }, method === 'get' ? 'Send' : `Send a real ${method.toUpperCase()}`)
  const stop = el('button', { type: 'button', hidden: true }, 'Stop')
  const result = el('div', { class: 'result', 'aria-live': 'polite' })
  const form = el(
    'form',
    { class: 'try' },
    el('h4', {}, 'Try it'),
    ...[...fields.values()].map(({ row }) => row),
    body?.row ?? null,
    el('p', { class: 'buttons' }, send, stop),
    result,
  )
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const leave = new AbortController()
    stop.onclick = () => leave.abort()
    stop.hidden = false
    send.disabled = true
    const values = new Map([...fields].map(([parameter, { input }]) => [parameter, input.value]))
    const request = requestOf(call, values, keys, await body?.read())
    await show(result, request, leave.signal)
    stop.hidden = true
    send.disabled = false
  })
  return form
}

function parameterField(call: string, { name, in: place, required, schema }: Parameter) {
  const id = `${call}-${name}`
  const values = schema?.enum?.map(String)
  const input = values
    ? el('select', { id }, ...['', ...values].map((value) => el('option', { value }, value || '-')))
    : el('input', {
        id,
        autocomplete: 'off',
        spellcheck: 'false',
        ...(schema?.const !== undefined && { value: String(schema.const) }),
      })
  input.required = required === true
  if (name === 'idempotency-key') input.value = crypto.randomUUID()
  return { input, row: el('p', {}, el('label', { for: id }, name, el('span', {}, place)), input) }
}

interface Sent {
  readonly type: string
  readonly body: BodyInit
}

function bodyField(document: Document, { operation }: Call) {
  const { requestBody } = operation
  if (!requestBody) return null
  const types = Object.entries(requestBody.content)
  const id = `${operation.operationId}-body`
  const type = el(
    'select',
    { 'aria-label': 'Content-Type' },
    ...types.map(([name]) => el('option', { value: name }, name)),
  )
  const text = el('textarea', { id, rows: '8', spellcheck: 'false' })
  const file = el('input', { type: 'file', 'aria-label': 'File' })
  const fill = () => {
    const media = requestBody.content[type.value] ?? {}
    const isFile = media.schema === undefined
    text.hidden = isFile
    file.hidden = !isFile
    text.value = isFile ? '' : pretty(examplesOf(document, media)[0] ?? {})
  }
  type.addEventListener('change', fill)
  fill()
  const read = async (): Promise<Sent | undefined> => {
    const [chosen] = file.files ?? []
    if (text.hidden) {
      if (!chosen) return undefined
      if (type.value !== 'multipart/form-data') return { type: chosen.type || type.value, body: chosen }
      const form = new FormData()
      form.append('file', chosen)
      return { type: '', body: form }
    }
    return text.value === '' ? undefined : { type: type.value, body: text.value }
  }
  return { read, row: el('div', {}, el('label', { for: id }, 'Body'), types.length > 1 ? type : null, text, file) }
}

function requestOf(
  { path, method, operation }: Call,
  values: ReadonlyMap<Parameter, string>,
  keys: Keys,
  sent: Sent | undefined,
): Request {
  const given = [...values].filter(([, value]) => value !== '')
  const of = (place: Parameter['in']) => given.filter(([parameter]) => parameter.in === place)
  const filled = of('path').reduce(
    (address, [{ name }, value]) => address.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  )
  const query = new URLSearchParams(of('query').map(([{ name }, value]) => [name, value]))
  const headers = new Headers(of('header').map(([{ name }, value]) => [name, value]))
  if (!headers.has('accept')) headers.set('accept', acceptOf(operation))
  const key = (operation.security ?? [])
    .flatMap((one) => Object.keys(one))
    .map((name) => keys.get(name))
    .find(Boolean)
  if (key) headers.set('authorization', `Bearer ${key}`)
  if (sent?.type) headers.set('content-type', sent.type)
  const address = query.size > 0 ? `${filled}?${query}` : filled
  return new Request(address, { method: method.toUpperCase(), headers, ...(sent && { body: sent.body }) })
}

/** The media types of the first answer that is a success, so that a page's address answers JSON. */
function acceptOf({ responses }: Call['operation']): string {
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? []
  const [first = 'application/json'] = Object.keys(success?.content ?? {})
  return first
}

async function show(result: HTMLElement, request: Request, signal: AbortSignal): Promise<void> {
  const startedMs = performance.now()
  result.replaceChildren(el('p', {}, 'Waiting for the answer.'))
  try {
    const response = await fetch(request, { signal })
    const ms = Math.round(performance.now() - startedMs)
    const status = el('p', { class: 'outcome' }, `${response.status} ${response.statusText}, after ${ms} ms`)
    const headers = codeBlock([...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n'), 'Headers')
    const text = el('code')
    const block = codeBlock('', 'Answer')
    block.replaceChildren(text)
    result.replaceChildren(status, headers, block)
    await readInto(text, response)
  } catch (error) {
    const isOver = signal.aborted && result.childElementCount > 1
    if (!isOver)
      result.replaceChildren(el('p', { class: 'outcome' }, signal.aborted ? 'Stopped.' : `No answer: ${error}`))
  }
}

/** Shows a body while it comes, and JSON in lines once all of it is there. */
async function readInto(shown: HTMLElement, response: Response): Promise<void> {
  let text = ''
  if (response.body)
    for await (const part of response.body.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>) {
      text += part
      shown.textContent = text.slice(0, MAX_SHOWN)
    }
  if (!/[/+]json/.test(response.headers.get('content-type') ?? '')) return
  try {
    shown.textContent = pretty(JSON.parse(text)).slice(0, MAX_SHOWN)
  } catch {
    // It stays as it came.
  }
}
