/** Calls of the shop front: what is on, and search. */
import * as v from 'valibot'
import { SearchMade } from '../../shared/api/front.ts'
import { Completions, Front, Searches, SearchIndex, SearchResults } from './answers.ts'
import type { Operations } from './document.ts'
import { AS_JSON, CURRENT, NOT_MODIFIED } from './parts.ts'

const TAG = 'Front'
const q = { schema: v.pipe(v.string(), v.maxLength(200)), description: 'What is searched for.' }
const OF_ACCOUNTS = ['sign-in-required', 'signed-out', 'forbidden', 'too-many-requests'] as const
const latest = (description: string) => ({ 200: { description, schema: Searches } })

export const frontOperations: Operations = {
  '/': {
    get: {
      id: 'listSales',
      tag: TAG,
      summary: 'The sales that are on, to come, and over',
      headers: AS_JSON,
      answers: { 200: { description: 'The sales in the order of the front.', schema: Front }, ...NOT_MODIFIED },
      problems: ['too-many-requests'],
    },
  },
  '/search': {
    get: {
      id: 'search',
      tag: TAG,
      summary: 'Search sales, products and venues',
      headers: AS_JSON,
      query: {
        q,
        limit: { schema: v.pipe(v.string(), v.digits()), description: 'At most so many results, up to 100.' },
      },
      answers: {
        200: {
          description: 'The results, the best first.',
          schema: SearchResults,
          example: { query: 'vinyl', results: [] },
        },
      },
      problems: ['invalid-fields', 'too-many-requests'],
    },
  },
  '/search/suggest': {
    get: {
      id: 'completeSearch',
      tag: TAG,
      summary: 'Complete queries that begin like this one',
      query: { q },
      answers: {
        200: {
          description: 'At most eight completions.',
          schema: Completions,
          example: { query: 'vin', completions: ['vinyl'] },
        },
      },
      problems: ['invalid-fields', 'too-many-requests'],
    },
  },
  '/search/index': {
    get: {
      id: 'getSearchIndex',
      tag: TAG,
      summary: 'What a browser searches by itself',
      query: { v: { schema: v.string(), description: 'The version; another one redirects to the current.' } },
      answers: {
        200: { description: 'The entries, and words with the same meaning.', schema: SearchIndex },
        ...CURRENT,
        ...NOT_MODIFIED,
      },
      problems: ['not-found'],
    },
  },
  '/me/sign-out': {
    post: {
      id: 'signOut',
      tag: TAG,
      summary: 'Sign out',
      description: 'Ends the session that began at `/me/sign-in`. Places are kept for when the account signs in again.',
      headers: AS_JSON,
      answers: {
        200: {
          description: 'Where the browser goes to sign out at the issuer too; null if it has no such address.',
          schema: v.object({ sign_out_url: v.nullable(v.string()) }),
          example: { sign_out_url: 'https://id.shop.example/session/end?client_id=line' },
        },
      },
      problems: ['forbidden', 'too-many-requests', 'not-found'],
    },
  },
  '/me/searches': {
    get: {
      id: 'listSearches',
      tag: TAG,
      summary: 'The latest ten searches of a signed-in visitor',
      callers: ['shop'],
      answers: latest('The newest first.'),
      problems: OF_ACCOUNTS,
    },
    post: {
      id: 'keepSearch',
      tag: TAG,
      summary: 'Keep a search',
      callers: ['shop'],
      body: { schema: SearchMade, description: 'The search.', example: { q: 'vinyl' } },
      answers: latest('The searches with this one first.'),
      problems: [...OF_ACCOUNTS, 'invalid-fields', 'body-too-large', 'unsupported-media-type'],
    },
    delete: {
      id: 'forgetSearches',
      tag: TAG,
      summary: 'Forget a search, or all',
      callers: ['shop'],
      query: { q: { ...q, description: 'The search that is forgotten; all if it is left out.' } },
      answers: latest('Those that are left.'),
      problems: OF_ACCOUNTS,
    },
  },
}
