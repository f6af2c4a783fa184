/**
 * Bundles the console's page into `dist`, once for all origins of this checkout: `npm run build:console`. Start and
 * tests call it as well, and it does nothing while the last build is newer than its sources.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const ENTRY = fileURLToPath(new URL('../console/client/main.tsx', import.meta.url))
/** Packages are bundled too, but their files do not change with an installation, so the lock file's date counts. */
const LOCK_FILE = 'package-lock.json'

export async function buildConsole(): Promise<void> {
  if (isUpToDate(readManifest())) return
  const startedMs = Date.now()
  const { build } = await import('esbuild')
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [ENTRY],
    outdir: DIST,
    // Browsers cache an asset permanently, so its name changes with its content.
    entryNames: 'console-[hash]',
    bundle: true,
    minify: true,
    metafile: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // The console's face is served beside its script and style.
    loader: { '.woff2': 'file' },
    assetNames: 'console-[name]-[hash]',
    logLevel: 'silent',
  })
  const outputs = Object.keys(metafile.outputs).map((path) => basename(path))
  const named = (ending: string) => outputs.find((name) => name.endsWith(ending)) ?? ''
  const inputs = [...Object.keys(metafile.inputs), LOCK_FILE]
  writeManifest({
    script: named('.js'),
    style: named('.css'),
    faces: outputs.filter((name) => name.endsWith('.woff2')),
    inputs,
    built_ms: startedMs,
  })
  for (const name of readdirSync(DIST))
    if (name.startsWith('console-') && !outputs.includes(name)) rmSync(join(DIST, name), { force: true })
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
  readonly script: string
  readonly style: string
  /** The files of the console's face. */
  readonly faces: readonly string[]
  /** The bundled files, by path from the project's root, and the time at which bundling began. */
  readonly inputs: readonly string[]
  readonly built_ms: number
}

export const DIST = fileURLToPath(new URL('../console/dist', import.meta.url))

export const MANIFEST = join(DIST, 'manifest.json')

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
