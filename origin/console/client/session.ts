/** Who is signed in. */
import { signal } from '@preact/signals'
import { hasRole, type Operator, type Role } from '../../../shared/api/roles.ts'
import { api, get } from './api.ts'

/** `unknown` until the origin has said. */
export const session = signal<Operator | null | 'unknown'>('unknown')

/** Whether one can sign in at the company's own service. */
export const offersService = signal(false)

export async function readSession(): Promise<void> {
  const { operator, oidc } = await get<{ operator: Operator | null; oidc: boolean }>('/console/session')
  offersService.value = oidc
  session.value = operator
}

export async function signIn(key: string): Promise<void> {
  session.value = await api<Operator>('POST', '/console/session', { key })
}

export async function signOut(): Promise<void> {
  await api('DELETE', '/console/session')
  session.value = null
}

/** Whether who is signed in may do what takes this role. */
export function may(role: Role): boolean {
  const operator = session.value
  return operator !== null && operator !== 'unknown' && hasRole(operator.role, role)
}
