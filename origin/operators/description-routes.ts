/**
 * Serves the description of the operators' interface (OpenAPI 3.1), which is no secret: every tool may read it. The
 * page `/api` shows it.
 */
import { readFileSync } from 'node:fs'
import { Hono } from 'hono'
import { REFERENCE_HEADERS } from '../../shared/reference-page.ts'
import type { ConsoleFiles } from './console-files.ts'

const DOCUMENT = new URL('../../docs/openapi/operators.json', import.meta.url)

/** The routes are mounted at `/`. */
export function descriptionRoutes({ reference }: Pick<ConsoleFiles, 'reference'>): Hono {
  const text = JSON.stringify(JSON.parse(readFileSync(DOCUMENT, 'utf8')))
  return new Hono()
    .get('/openapi.json', (c) =>
      c.body(text, 200, {
        'content-type': 'application/json',
        'cache-control': 'no-cache',
        'access-control-allow-origin': '*',
      }),
    )
    .get('/api', (c) => c.body(reference, 200, { ...REFERENCE_HEADERS, 'cache-control': 'no-cache' }))
}
