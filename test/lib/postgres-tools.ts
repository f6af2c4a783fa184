/**
 * A complete Postgres with its tools on this machine, since the npm package contains only the server. Debian
 * and Ubuntu: `sudo apt-get install postgresql`.
 */
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const NEEDED = ['postgres', 'initdb', 'pg_dump', 'pg_restore', 'pg_basebackup', 'pg_receivewal']
const FOLDERS = [18, 17, 16, 15].map((version) => `/usr/lib/postgresql/${version}/bin`)

const folder = [...(process.env.PATH ?? '').split(delimiter), ...FOLDERS]
  .filter((one) => one !== '')
  .find((one) => NEEDED.every((name) => existsSync(join(one, name))))

/** False if the tests that need the tools are skipped. */
export const hasPostgresTools = folder !== undefined

export const postgresTool = (name: string) => join(folder ?? '', name)

/** The server, for `startPostgres`. */
export const postgresBinaries = { postgres: postgresTool('postgres'), initdb: postgresTool('initdb') }
