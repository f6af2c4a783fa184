/** What the descriptions of several calls have in common. */
import * as v from 'valibot'

export const NOT_MODIFIED = { 304: { description: 'It has not changed since the ETag in If-None-Match.' } }
export const CURRENT = { 302: { description: 'The current version.', headers: { location: 'Its address.' } } }
/** The header with which a program asks for JSON at the address of a page. */
export const AS_JSON = {
  accept: { schema: v.literal('application/json'), description: 'Without it browsers get a page.' },
}
