/**
 * Routes for the edge, which reads the catalogue and visitors' latest searches, and for operators, who edit the
 * synonyms of the search.
 */
import { type Context, Hono } from 'hono'
import { SearchMade, Synonyms } from '../../shared/api/front.ts'
import { EDGE_VISITOR_HEADER } from '../../shared/api/internal.ts'
import { jsonIn, parse } from '../../shared/parse.ts'
import { problem } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import { etagOf, headerOf, jsonBody, readText, refuse, versionFor } from '../lib/http/request.ts'
import { operatorOf } from '../operators/operator-auth.ts'
import type { Catalogues } from './catalogue.ts'
import { readSynonyms, versionOfSynonyms, writeSynonyms } from './catalogue-queries.ts'
import type { RecentSearches } from './recent-searches.ts'

/** The route is mounted below `/internal`. */
export const catalogueRoutes = (catalogues: Catalogues): Hono =>
  new Hono().get('/catalogue', async (c) => c.json(await catalogues.listing(c.req.query('has'))))

/** The routes are mounted below `/internal`, because only the edge knows who is signed in. */
export function recentSearchRoutes(searches: RecentSearches): Hono {
  const visitorOf = (c: Context) =>
    decodeURIComponent(headerOf(c, EDGE_VISITOR_HEADER) ?? refuse(problem('unauthorized')))
  return new Hono()
    .get('/searches', async (c) => c.json({ searches: await searches.of(visitorOf(c)) }))
    .post('/searches', jsonBody(SearchMade), async (c) =>
      c.json({ searches: await searches.add(visitorOf(c), c.req.valid('json').q) }),
    )
    .delete('/searches', async (c) => c.json({ searches: await searches.remove(visitorOf(c), c.req.query('q')) }))
}

export function searchRoutes({ sql }: { readonly sql: Sql }) {
  const sendSynonyms = async (c: Context) => {
    c.header('ETag', etagOf(await versionOfSynonyms(sql)))
    return c.json(await readSynonyms(sql))
  }
  return new Hono().get('/search/synonyms', sendSynonyms).put('/search/synonyms', async (c) => {
    await writeSynonyms(sql, parse(Synonyms, jsonIn(await readText(c))), operatorOf(c), versionFor(c))
    return sendSynonyms(c)
  })
}
