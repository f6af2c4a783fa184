/**
 * The owners' calls for operators: list them, create one or give it a new key, and revoke it. Only the response that
 * creates a key contains it.
 */
import { Hono } from 'hono'
import { NewOperator } from '../../shared/api/operators/roles.ts'
import { problem } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import { jsonBody, NO_STORE, refuse } from '../lib/http/request.ts'
import { operatorOf, requireRole } from './operator-auth.ts'
import { listOperators, revokeOperator, writeOperator } from './operator-queries.ts'
import { newKey } from './operators.ts'

export const operatorKeyRoutes = (sql: Sql) =>
  new Hono()
    .use('/operators/*', requireRole('owner'))

    .get('/operators', async (c) => {
      const operators = await listOperators(sql)
      return c.json({ operators: operators.map(({ operator, ...rest }) => ({ name: operator, ...rest })) })
    })

    .post('/operators', jsonBody(NewOperator), async (c) => {
      const wanted = c.req.valid('json')
      const { secret: key, hash } = newKey()
      await writeOperator(sql, wanted, hash, operatorOf(c))
      return c.json({ ...wanted, key }, 201, NO_STORE)
    })

    .delete('/operators/:name', async (c) => {
      const name = c.req.param('name')
      if (!(await revokeOperator(sql, name, operatorOf(c))))
        refuse(problem('not-found', { detail: `There is no operator ${name} with a key or a session.` }))
      return c.body(null, 204)
    })
