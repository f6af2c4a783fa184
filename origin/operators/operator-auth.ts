/** Identifies the operator who makes a call, and checks what their role allows. */
import type { Context, MiddlewareHandler } from 'hono'
import { getCookie } from 'hono/cookie'
import { hasRole, type Operator, type Role } from '../../shared/api/operators/roles.ts'
import { problem } from '../../shared/problem.ts'
import { bearer, comparesTo, declare, headerOf, refuse } from '../lib/http/request.ts'
import { ADMIN, type Operators } from './operators.ts'

/** A cookie named `__Host-` needs https, which a console on a developer's machine does not have. */
export const sessionCookie = (isSecure: boolean) => (isSecure ? '__Host-operator' : 'operator')

/** Returns the cookie of the browser's session. */
export const sessionIn = (c: Context) => getCookie(c, sessionCookie(true)) ?? getCookie(c, sessionCookie(false))

declare module 'hono' {
  interface ContextVariableMap {
    /** `requireOperator` sets the operator. */
    operator: Operator
  }
}

/** The caller's name in the audit log. */
export const operatorOf = (c: Context): string => c.get('operator').name

const READS = ['GET', 'HEAD']

/**
 * Admits operators by `Authorization: Bearer` with an admin token or a key, or by a browser's session. Reading needs
 * a viewer, and every other call an operator; a route that needs an owner says so with `requireRole`.
 */
export function requireOperator(adminTokens: readonly string[], operators: Operators): MiddlewareHandler {
  const isAdmin = comparesTo(...adminTokens)
  return async (c, next) => {
    const token = bearer(c)
    const operator =
      token === undefined
        ? await operatorOfSession(c, operators)
        : isAdmin(token)
          ? ADMIN
          : await operators.byKey(token)
    if (!operator) return refuse(problem('unauthorized'))
    c.set('operator', operator)
    // The response may name buyers or contain a secret.
    c.header('cache-control', 'no-store')
    if (!READS.includes(c.req.method)) mustHave('operator', operator)
    return next()
  }
}

/** A browser sends the cookie with calls from any page, so only the console's own origin may change anything. */
async function operatorOfSession(c: Context, operators: Operators): Promise<Operator | undefined> {
  const cookie = sessionIn(c)
  if (cookie === undefined) return undefined
  const site = headerOf(c, 'sec-fetch-site')
  if (!READS.includes(c.req.method) && site !== 'same-origin') refuse(problem('forbidden'))
  return operators.bySession(cookie)
}

export function requireRole(role: Role): MiddlewareHandler {
  return declare<MiddlewareHandler>({ role }, (c, next) => {
    mustHave(role, c.get('operator'))
    return next()
  })
}

function mustHave(role: Role, operator: Operator): void {
  if (hasRole(operator.role, role)) return
  refuse(problem('forbidden', { detail: `This takes the role ${role}, and ${operator.name} is ${operator.role}.` }))
}
