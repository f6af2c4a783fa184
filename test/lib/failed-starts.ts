/** Starts systems that cannot start. Each prints the reason in one sentence and leaves nothing behind. */
import { globSync } from 'node:fs'
import { afterEach, beforeEach, expect, vi } from 'vitest'
import { LocalError, temporaryFolder } from '../../dev/lib/processes.ts'
import { type SystemOptions, startSystem } from '../../dev/system.ts'
import { useDatabase } from './servers.ts'

export function useFailures() {
  const ledger = useDatabase()
  let temporary: ReturnType<typeof temporaryFolder>
  beforeEach(() => {
    temporary = temporaryFolder('system-test')
    vi.stubEnv('TMPDIR', temporary.path)
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    temporary.remove()
  })
  return {
    /** A folder of the test, which is removed after it. */
    folder: () => temporary.path,
    /** The reason that a system with these options gives. */
    async failureOf(options: SystemOptions): Promise<string> {
      const error = await startSystem({ databaseUrl: ledger.url, ...options }).then(
        (system) => system.stop(),
        (error: unknown) => error,
      )
      expect(error).toBeInstanceOf(LocalError)
      const { message } = error as LocalError
      expect(message).not.toMatch(/\n|hunter2/)
      expect(globSync('flash-sale-*', { cwd: temporary.path })).toEqual([])
      return message
    },
  }
}
