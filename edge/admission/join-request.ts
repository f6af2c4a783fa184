/** Parses the body of a join: JSON from a program or a script, or form fields from a page without a script. */
import * as v from 'valibot'
import { JoinRequest } from '../../shared/api/access.ts'
import { sourceIn, sourceLabel, TYPED } from '../../shared/api/views/source.ts'
import { type Fields, isJsonType, parse, parseJson } from '../../shared/parse.ts'
import { type Call, formFields, hostOf, readText, refuse } from '../http/call.ts'

const NOTHING: JoinRequest = {}
/**
 * Fields that the page's script or ALTCHA's widget adds to the form are ignored. The page's script writes the source
 * as parameters, and whatever it writes refuses nobody.
 */
const FormFields = v.object({
  ...JoinRequest.entries,
  source: v.optional(
    v.pipe(
      v.string(),
      v.transform((text) => sourceIn(new URLSearchParams(text))),
    ),
  ),
})

const FORM = /^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i

const requests = new WeakMap<Call, Promise<JoinRequest>>()
const formsByCall = new WeakMap<Call, Fields>()

/** The fields of a join's form as they were sent, valid or not. */
export const typedIn = (call: Call): Fields => formsByCall.get(call) ?? {}

/**
 * Reads the body once per request. Throws `invalid-request`, `invalid-fields`, `body-too-large` or
 * `unsupported-media-type`.
 */
export function readJoin(call: Call): Promise<JoinRequest> {
  const known = requests.get(call)
  if (known) return known
  const read = readOnce(call)
  requests.set(call, read)
  return read
}

async function readOnce(call: Call): Promise<JoinRequest> {
  const { request } = call
  const { headers } = request
  const type = headers.get('content-type')
  // Nearly all joins have no body, and reading `body` would make the runtime create a stream.
  if (type === null || headers.get('content-length') === '0' || request.body === null) return NOTHING
  if (FORM.test(type)) {
    const fields = (await formFields(request)) ?? refuse('invalid-request', { detail: 'The form cannot be read.' })
    formsByCall.set(call, fields)
    return parse(FormFields, withoutEmpty(fields))
  }
  const text = await readText(request)
  if (text === '') return NOTHING
  return isJsonType(type) ? parseJson(JoinRequest, text) : refuse('unsupported-media-type')
}

/** A form sends every field, even an empty one. */
const withoutEmpty = (fields: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))

/**
 * The label of where the caller came from, if anything says so: the request, or otherwise the page that sent it. That
 * page's address has the parameters of the campaign, also where no script runs; a page of another host is a source
 * itself.
 */
export async function sourceOfJoin(call: Call): Promise<string | undefined> {
  const said = sourceLabel((await readJoin(call)).source)
  if (said !== TYPED) return said
  const referer = call.request.headers.get('referer')
  if (!referer) return undefined
  const isOwn = hostIn(referer) === hostIn(hostOf(call))
  // A join mostly comes from the sale's page without a campaign, and parsing an address costs as much as a signature.
  if (isOwn && !referer.includes('?')) return undefined
  const page = URL.parse(referer)
  if (!page) return undefined
  const label = sourceLabel(isOwn ? sourceIn(page.searchParams) : { referrer: page.host })
  return label === TYPED ? undefined : label
}

/** The host and port in an address, without the cost of parsing it. */
const hostIn = (address: string) => address.split('/', 3)[2]
