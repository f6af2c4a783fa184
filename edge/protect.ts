import type { Call } from './http.ts'

export function protectedSite(_path: string, _call: Call): Response | null {
  return null
}
