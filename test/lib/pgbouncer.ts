/** PgBouncer of the machine, in front of a Postgres. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, LOOPBACK, Server, temporaryFolder } from '../../dev/lib/processes.ts'
import { ensureProgram } from '../../dev/servers/install.ts'
import { connect } from '../../origin/ledger/connection.ts'

export type PoolMode = 'session' | 'transaction'

/** Starts one that passes every database on. `ignored` are parameters that sessions may bring and that it drops. */
export async function startPgBouncer(to: string, mode: PoolMode, ignored: readonly string[]): Promise<Server> {
  const command = await ensureProgram({
    name: 'PgBouncer',
    binaries: ['pgbouncer'],
    apt: 'pgbouncer',
    brew: 'pgbouncer',
    otherwise: 'leave out this test',
  })
  const { hostname, port: postgresPort, username, password, pathname } = new URL(to)
  const [port, folder] = [await freePort(), temporaryFolder('pgbouncer')]
  const file = join(folder.path, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${postgresPort} user=${username} password=${password}
[pgbouncer]
listen_addr = ${LOOPBACK}
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
ignore_startup_parameters = ${ignored.join(', ')}
`,
    { mode: 0o644 },
  )
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const url = `postgres://${username}:none@${LOOPBACK}:${port}${pathname}`
  return new Server({
    url,
    port,
    remove: folder.remove,
    process: () => ({
      name: 'PgBouncer',
      command,
      args: [...user, file],
      logFile: join(folder.path, 'pgbouncer.log'),
      cwd: '/',
    }),
    probe: async () => {
      const sql = connect(url, 1)
      try {
        await sql`select 1`
        return true
      } catch (error) {
        return /^(08P01|26000)$/.test((error as { code?: string }).code ?? '')
      } finally {
        await sql.end({ timeout: 1 })
      }
    },
  }).start()
}
