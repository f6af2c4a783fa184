/**
 * Bundles the console's page into `dist`, once for all origins of this checkout: `npm run build:console`. Start and
 * tests call it as well, and it does nothing while the last build is newer than its sources.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BuildOptions } from 'esbuild'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const REFERENCE = ['shared/reference/reference.ts', 'shared/reference/reference.css']
const ENTRY = fileURLToPath(new URL('../console/client/main.tsx', import.meta.url))
/** Packages are bundled too, but their files do not change with an installation, so the lock file's date counts. */
const LOCK_FILE = 'package-lock.json'

export async function buildConsole(): Promise<void> {
  if (isUpToDate(readManifest())) return
  const startedMs = Date.now()
  const { build } = await import('esbuild')
  const options = {
    absWorkingDir: ROOT,
    entryPoints: [ENTRY],
    outdir: DIST,
    // Browsers cache an asset permanently, so its name changes with its content.
    entryNames: 'console-[hash]',
    chunkNames: 'console-[name]-[hash]',
    assetNames: 'console-[name]-[hash]',
    bundle: true,
    minify: true,
    metafile: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'silent',
  } satisfies BuildOptions
  // Each page has a script of its own. All pages share one style sheet, with the console's face beside it.
  const scripts = await build({ ...options, splitting: true, loader: { '.css': 'empty' } })
  const styles = await build({ ...options, loader: { '.woff2': 'file' }, write: false })
  // The page `/api` shows the operators' interface, and shares nothing with the console.
  const reference = await build({ ...options, entryPoints: REFERENCE, entryNames: 'console-reference-[hash]' })
  const written = styles.outputFiles.filter(({ path }) => !path.endsWith('.js'))
  for (const { path, contents } of written) writeFileSync(path, contents)
  const named = (paths: readonly string[], ending: string) =>
    paths.map((path) => basename(path)).filter((name) => name.endsWith(ending))
  const outputs = Object.entries(scripts.metafile.outputs)
  const [entry = ''] = outputs.flatMap(([path, { entryPoint }]) => (entryPoint === relative(ROOT, ENTRY) ? path : []))
  const others = written.map(({ path }) => path)
  const ofReference = Object.keys(reference.metafile.outputs)
  const all = named([...Object.keys(scripts.metafile.outputs), ...others, ...ofReference], '')
  writeManifest({
    script: basename(entry),
    preloads: (scripts.metafile.outputs[entry]?.imports ?? [])
      .filter(({ kind }) => kind === 'import-statement')
      .map(({ path }) => basename(path)),
    scripts: named(Object.keys(scripts.metafile.outputs), '.js'),
    style: named(others, '.css')[0] ?? '',
    faces: named(others, '.woff2'),
    reference: { script: named(ofReference, '.js')[0] ?? '', style: named(ofReference, '.css')[0] ?? '' },
    inputs: [...Object.keys(styles.metafile.inputs), ...Object.keys(reference.metafile.inputs), LOCK_FILE],
    built_ms: startedMs,
  })
  for (const name of readdirSync(DIST))
    if (name.startsWith('console-') && !all.includes(name)) rmSync(join(DIST, name), { force: true })
}

function isUpToDate(built: ConsoleBuild | undefined): boolean {
  if (!built) return false
  const changedMs = (path: string) => statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? Infinity
  return built.inputs.every((path) => changedMs(path) < built.built_ms)
}

/** The file is renamed into place, so that an origin that starts meanwhile reads one complete build. */
function writeManifest(built: ConsoleBuild): void {
  mkdirSync(DIST, { recursive: true })
  const temporary = `${MANIFEST}.${process.pid}`
  writeFileSync(temporary, JSON.stringify(built))
  renameSync(temporary, MANIFEST)
}

/** The manifest that `build.ts` writes next to the assets. */
export interface ConsoleBuild {
  /** The entry's script, and those that it imports at once. */
  readonly script: string
  readonly preloads: readonly string[]
  /** All scripts, one for each page and for what several pages share. */
  readonly scripts: readonly string[]
  readonly style: string
  /** The files of the console's face. */
  readonly faces: readonly string[]
  /** The files of the page that shows the interface. */
  readonly reference: { readonly script: string; readonly style: string }
  /** The bundled files, by path from the project's root, and the time at which bundling began. */
  readonly inputs: readonly string[]
  readonly built_ms: number
}

export const DIST = fileURLToPath(new URL('../console/dist', import.meta.url))

const MANIFEST = join(DIST, 'manifest.json')

/** The last build; undefined if there is none. */
export function readManifest(): ConsoleBuild | undefined {
  try {
    return JSON.parse(readFileSync(MANIFEST, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildConsole()
