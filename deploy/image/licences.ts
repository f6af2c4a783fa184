/**
 * Writes what the image contains beside its base: `sbom.cdx.json`, as CycloneDX, and `NOTICE`, with each licence in
 * full. Packages that are bundled into the console's page count, and so does Node.
 *
 *     node deploy/image/licences.ts
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readManifest } from '../../origin/operators/console-build.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The files of a package that its licence asks to pass on. */
const LICENCE_FILE = /^(licen[cs]e|unlicense|copying|notice|third-party-notices)/i
/** The folder of a package, in the path of one of its files. */
const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/
const DEVELOPMENT = 'cdx:npm:package:development'

interface Component {
  /** For a package `NAME@VERSION`. */
  readonly 'bom-ref': string
  readonly type: string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly licenses?: readonly { readonly license?: { readonly id?: string }; readonly expression?: string }[]
  readonly properties?: readonly { readonly name: string; readonly value: string }[]
}
interface Sbom {
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

/** The folders of all installed packages by their reference. */
function packageFolders(): ReadonlyMap<string, string> {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { name?: string; version?: string; link?: true }>>
  }
  const installed = Object.entries(packages).filter(([path, { link }]) => !link && existsSync(join(ROOT, path)))
  const nameOf = (path: string) => path.replace(/^.*node_modules\/|^vendor\//, '')
  return new Map(installed.map(([path, { name, version }]) => [`${name ?? nameOf(path)}@${version}`, path]))
}

/** The folders of the packages whose code or faces are in the console's page. */
function bundledFolders(): ReadonlySet<string> {
  const manifest = readManifest()
  if (!manifest) throw new Error('the console is not built: run "npm run build:console" first')
  return new Set(manifest.inputs.flatMap((path) => PACKAGE.exec(path)?.[0] ?? []))
}

/** The parts that are installed in production or bundled, and what they depend on among them. */
function shippedSbom(folders: ReadonlyMap<string, string>): Sbom {
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application']
  const sbom: Sbom = JSON.parse(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 27 }))
  const bundled = bundledFolders()
  const components = sbom.components.filter(
    ({ properties = [], 'bom-ref': ref }) =>
      !properties.some(({ name }) => name === DEVELOPMENT) || bundled.has(folders.get(ref) ?? ''),
  )
  const root = { ...sbom.metadata.component, name: 'flash-sale' }
  const refs = new Set([root, ...components].map((part) => part['bom-ref']))
  const dependencies = sbom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }))
  return {
    ...sbom,
    metadata: { ...sbom.metadata, component: root },
    components: [...components, node()],
    dependencies,
  }
}

function node(): Component {
  const version = process.versions.node
  const purl = `pkg:generic/node@${version}`
  return { 'bom-ref': purl, type: 'platform', name: 'node', version, purl, licenses: [{ license: { id: 'MIT' } }] }
}

function sectionOf(part: Component, folder: string): string {
  const ids = (part.licenses ?? []).map(({ license, expression }) => expression ?? license?.id ?? '')
  if (ids.join('') === '') throw new Error(`${part.name} names no licence`)
  const files = readdirSync(folder).filter((name) => LICENCE_FILE.test(name))
  // Binaries of several projects, such as libvips, list them there.
  const texts = (files.length > 0 ? files : ['README.md']).map((name) =>
    readFileSync(join(folder, name), 'utf8').trim(),
  )
  return [`## ${part.name} ${part.version}: ${ids.join(', ')}`, ...texts].join('\n\n')
}

const folders = packageFolders()
const sbom = shippedSbom(folders)
/** Node stands in the folder above that of its program. */
const folderOf = ({ 'bom-ref': ref, type }: Component) =>
  type === 'platform' ? dirname(dirname(process.execPath)) : join(ROOT, folders.get(ref) ?? '')
const sections = sbom.components
  .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  .map((part) => sectionOf(part, folderOf(part)))
const title = '# Licences of what the image contains, beside those of its base in /usr/share/doc'
writeFileSync(join(ROOT, 'sbom.cdx.json'), JSON.stringify(sbom, null, 1))
writeFileSync(join(ROOT, 'NOTICE'), `${[title, ...sections].join('\n\n')}\n`)
console.log(`${sections.length} parts are listed in NOTICE and sbom.cdx.json`)
