/** The rights of each operator role. Pure. */

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
