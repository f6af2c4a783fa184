/**
 * Checks that features are leaves: nothing but the lists imports the rooms of the feed, of the promo codes and of
 * Queue-it. `npm run check` runs it. dev/leaves.long.test.ts deletes them in a copy, with the lines that list them,
 * checks the types of the rest, and runs its tests.
 *
 *     node dev/leaves.ts
 */
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { temporaryFolder } from './lib/leftovers.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The folders and files of each feature. `shared/feed.ts` stays, since the visitors of bench/ read the feed, too. */
const FEATURES = [
  ...['edge/feed', 'edge/pages/feed', 'edge/client/extras/posts.ts'],
  ...['origin/feed', 'origin/console/client/pages/feed'],
  ...['origin/promo-codes', 'origin/console/client/pages/promo-codes'],
  ...['edge/queue-it', 'test/pages/queue-it.long.test.ts'],
]
/** The files that may list features. */
const LISTS = [
  ...['edge/worker.ts', 'edge/routes.ts', 'edge/client/extras/extras.ts', 'edge/preview/samples.ts'],
  ...['origin/compose.ts', 'origin/routes.ts', 'origin/operators-api.ts', 'origin/console/client/main.tsx'],
  'test/explore/shop/members.ts',
]
/** The parts of the repository that are copied, and results of builds that are not. */
const PARTS = ['bench', 'client', 'deploy', 'dev', 'docs', 'edge', 'examples', 'origin', 'shared', 'test', 'vendor']
const FILES = ['.squawk.toml', 'README.md', 'package.json', 'package-lock.json', 'tsconfig.json', 'wrangler.toml']
const BUILT = /\/(dist|results|\.wrangler)(\/|$)/

const isGone = (path: string) => FEATURES.some((gone) => path === gone || path.startsWith(`${gone}/`))

const IMPORT = /^(?:import|export) (?:type )?(?<names>[^'"]*?)(?: from )?'(?<from>[^']+)'\n/gm
/** A page of the console that is loaded when it is shown. */
const LAZY = /^const (?<name>\w+) = lazily\(\(\) =>\s+import\('(?<from>[^']+)'\).*\n(?:\)\n)?/gm

/**
 * Returns the text of a file that lists features without them: without the imports that lead to a deleted file, and
 * without the lines, or the only entries of a list in one line, that use what these imports brought.
 */
export function withoutEntries(text: string, leadsToGone: (from: string) => boolean): string {
  const names: string[] = []
  const eager = text.replace(LAZY, (all, name: string, from: string) => {
    if (!leadsToGone(from)) return all
    names.push(name)
    return ''
  })
  const rest = eager.replace(IMPORT, (all, brought: string, from: string) => {
    if (!leadsToGone(from)) return all
    names.push(
      ...brought
        .replaceAll(/[{}]|\btype\b/g, '')
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean),
    )
    return ''
  })
  if (names.length === 0) return rest
  const used = `\\b(?:${names.join('|')})\\b`
  const inBrackets = new RegExp(`= \\[[^[\\]]*${used}[^[\\]]*\\]$`)
  const alone = new RegExp(`= \\[(?:new )?${used}(?:\\([^()]*\\))?\\]$`)
  const uses = new RegExp(used)
  return rest
    .split('\n')
    .filter((line) => !uses.test(line) || inBrackets.test(line))
    .map((line) => line.replace(alone, '= []'))
    .join('\n')
}

/** The sources of the rest that import a feature: the file, and its text without these imports and entries. */
function* withoutImports(): Generator<readonly [file: string, rest: string]> {
  for (const file of globSync(`{${PARTS.join(',')}}/**/*.{ts,tsx}`, { cwd: ROOT })) {
    if (isGone(file) || BUILT.test(file)) continue
    const text = readFileSync(join(ROOT, file), 'utf8')
    const rest = withoutEntries(text, (from) => from.startsWith('.') && isGone(join(dirname(file), from)))
    if (rest !== text) yield [file, rest]
  }
}

/** Throws if a file that is no list imports a feature. */
export function requireLeaves(): void {
  const wrong = [...withoutImports()].map(([file]) => file).filter((file) => !LISTS.includes(file))
  if (wrong.length > 0)
    throw new Error(`These files import a feature, as only a list of dev/leaves.ts may: ${wrong.join(', ')}`)
}

/** Copies the sources without the features to a new folder, and removes it when the work is done. */
export async function withoutFeatures(work: (copy: string) => Promise<void>): Promise<void> {
  requireLeaves()
  const folder = temporaryFolder('leaves')
  try {
    copySources(folder.path)
    linkModules(folder.path)
    await work(folder.path)
  } finally {
    folder.remove()
  }
}

function copySources(copy: string): void {
  for (const part of [...PARTS, ...FILES])
    cpSync(join(ROOT, part), join(copy, part), {
      recursive: true,
      filter: (from) => !isGone(relative(ROOT, from)) && !BUILT.test(from),
    })
  for (const [file, rest] of withoutImports()) writeFileSync(join(copy, file), rest)
}

/**
 * Packages are links, but the folder is the copy's own, because it stores what a build makes. It begins with what the
 * last build of the types made, so that only what changes is checked again.
 */
function linkModules(copy: string): void {
  const [own, modules] = [join(copy, 'node_modules'), join(ROOT, 'node_modules')]
  mkdirSync(join(own, '.cache'), { recursive: true })
  for (const name of readdirSync(modules)) if (name !== '.cache') symlinkSync(join(modules, name), join(own, name))
  const types = join('.cache', 'types')
  if (existsSync(join(modules, types)))
    cpSync(join(modules, types), join(own, types), { recursive: true, preserveTimestamps: true })
  // A package then has its path in the copy, as files that a build has made name it.
  const config = join(copy, 'tsconfig.json')
  const options = JSON.parse(readFileSync(config, 'utf8'))
  options.compilerOptions.preserveSymlinks = true
  writeFileSync(config, JSON.stringify(options))
}

/** Throws if the types of the rest do not hold. */
export async function checkTypes(copy: string): Promise<void> {
  const options = { cwd: copy, preferLocal: true, reject: false, all: true } as const
  const { exitCode, all } = await execa('tsc', ['--build', '--checkers', '1'], options)
  if (exitCode !== 0) throw new Error(`Without the features the types do not hold:\n${all}`)
}

if (import.meta.main)
  try {
    requireLeaves()
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = 1
  }
