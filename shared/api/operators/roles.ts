/** Operators: their names, and the rights of each role. Pure. */
import * as v from 'valibot'
import { exactly } from '../fields.ts'

/**
 * viewer     reads everything but secrets
 * operator   steers sales and orders as well
 * owner      names operators and webhook endpoints, and forgets visitors, as well
 */
export const ROLES = ['viewer', 'operator', 'owner'] as const
export type Role = (typeof ROLES)[number]

/** An operator, whose name is in every audit entry. */
export interface Operator {
  readonly name: string
  readonly role: Role
}

/** True if a role includes another one. */
export const hasRole = (role: Role, needed: Role) => ROLES.indexOf(role) >= ROLES.indexOf(needed)

/** Names in the audit log that no operator may have: those of the admin token and of this system. */
export const TAKEN_NAMES: readonly string[] = ['admin', 'reconciler', 'scheduler']

const OperatorName = v.pipe(
  v.string('text is required'),
  v.regex(/^[A-Za-z0-9.@_-]{1,64}$/, '1 to 64 letters, digits and .@_- are required'),
  v.check((name) => !TAKEN_NAMES.includes(name.toLowerCase()), 'is taken'),
)

export const NewOperator = exactly({
  name: OperatorName,
  role: v.picklist(ROLES, 'viewer, operator or owner is required'),
})
