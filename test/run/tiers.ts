/**
 * Sorts every test file into the project that can run it, by what it imports:
 *
 * - `check`: holds the sources against their rules, and takes a minute of one processor,
 * - `pure`: decides and computes only; runs in plain threads (`npm run test:quick`),
 * - `edge`: needs the Workers runtime,
 * - `origin`: needs a store, or a process of its own,
 * - `system`: needs a whole system or a browser,
 * - `long`: is named `*.long.test.ts`; runs before a release (`npm run test:long`).
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export type Project = 'check' | 'edge' | 'system' | 'origin' | 'pure' | 'long'

const ROOMS = ['bench', 'client', 'deploy', 'dev', 'edge', 'origin', 'shared', 'test']
/** A test that imports one of these uses a server of the run, or starts one. */
const SERVERS = /^(test\/run\/shared-part|dev\/lib\/processes|dev\/servers\/[^/]+)\.ts$|^(node:child_process|execa)$/
const CHECK = 'test/check.test.ts'
const WORKERS_RUNTIME = /^cloudflare:/
/** A test that imports one of these directly runs a system of several processes. */
const SYSTEM = /^(dev\/system|bench\/rehearsal\/testing\/rehearse)\.ts$/
/** The imports that remain at run time, without types. */
const IMPORT = /^(?:import|export)\s+(?!type\b)(?:[^'"]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)/gm

/** The test files of the repository by project, as paths from its root. */
export function testsByProject(root: string): Record<Project, string[]> {
  const tests: Record<Project, string[]> = { check: [], edge: [], system: [], origin: [], pure: [], long: [] }
  const imports = importGraph(root)
  for (const file of globSync(`{${ROOMS.join(',')}}/**/*.test.ts`, { cwd: root }).toSorted()) {
    const direct = imports(file)
    tests[projectOf(file, direct, closure(direct, imports))].push(file)
  }
  return tests
}

function projectOf(file: string, direct: readonly string[], reached: ReadonlySet<string>): Project {
  const reaches = (pattern: RegExp) => [...reached].some((name) => pattern.test(name))
  if (file.endsWith('.long.test.ts')) return 'long'
  if (file === CHECK) return 'check'
  if (reaches(WORKERS_RUNTIME)) return 'edge'
  if (!reaches(SERVERS)) return 'pure'
  return file.startsWith('test/') || direct.some((name) => SYSTEM.test(name)) ? 'system' : 'origin'
}

/** These tests start programs of their own, and take longest. */
const STARTS = /\b(useOwnOrigin|useReturning|startSystem)\(|lib\/(starting|command)\.ts'/
export const startsPrograms = (file: string) => STARTS.test(readFileSync(file, 'utf8'))

function closure(direct: readonly string[], imports: (file: string) => readonly string[]): Set<string> {
  const reached = new Set(direct)
  // Iterating a set includes elements that are added meanwhile.
  for (const name of reached) for (const further of imports(name)) reached.add(further)
  return reached
}

/**
 * Returns a function that lists the imports of a file: paths from the root, and names of packages, which import no
 * file of the repository.
 */
function importGraph(root: string): (file: string) => readonly string[] {
  const known = new Map<string, readonly string[]>()
  const read = (file: string) => {
    const text = readFileSync(join(root, file), 'utf8')
    return Array.from(text.matchAll(IMPORT), ([, from, dynamic]) => {
      const name = from ?? dynamic ?? ''
      return name.startsWith('.') ? join(dirname(file), name) : name
    })
  }
  return (file) => {
    const imports = known.get(file) ?? (/\.tsx?$/.test(file) && existsSync(join(root, file)) ? read(file) : [])
    known.set(file, imports)
    return imports
  }
}
