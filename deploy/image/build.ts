/**
 * Builds the image where no registry of images can be reached. Both bases are made of Debian's packages by mmdebstrap;
 * the one to build on gets the same Node from npm, and this machine's npm. Needs Debian and root.
 *
 *     node deploy/image/build.ts FOLDER        writes the image there, in the layout of OCI
 */
import { cpSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { ensureProgram, findOnPath } from '../../dev/servers/install.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DEBIAN = 'bookworm'
/** What Node and the library of pictures need: the C library, C++'s, and names of networks' protocols. */
const RUNTIME_PACKAGES = 'base-files,libc6,libgcc-s1,libstdc++6,netbase'
/** Keeps what each package says of itself where programs that look for weaknesses of an image read it. */
const PACKAGE_LIST = `mkdir -p "$1/var/lib/dpkg/status.d"
for deb in "$1"/var/cache/apt/archives/*.deb
do dpkg-deb -f "$deb" > "$1/var/lib/dpkg/status.d/$(dpkg-deb -f "$deb" Package)"
done`
/** Removes what is this machine's, and the one program that a dependency of names brings. */
const CLEAN = 'rm -rf "$1/etc/hostname" "$1/etc/resolv.conf" "$1/usr/bin/mawk"'
const CERTIFICATE = /-----BEGIN[\s\S]+?-----END.*-----/g
const IMAGE = 'localhost/flash-sale'

/** An image in a store of its own, which ends with its folder. */
export class ImageStore {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = resolve(folder)
    mkdirSync(this.#folder, { recursive: true })
  }

  /** Builds the image, which takes minutes. */
  async build(): Promise<void> {
    await this.#makeRuntimeBase()
    await this.#makeBuildBase()
    const npmrc = join(this.#folder, 'npmrc')
    writeFileSync(npmrc, await npmConfiguration())
    const args = ['BUILD', 'RUNTIME'].flatMap((name) => ['--build-arg', `${name}=${IMAGE}-${name.toLowerCase()}`])
    const file = join(ROOT, 'deploy/Containerfile')
    const secret = `id=npmrc,src=${npmrc}`
    await this.buildah('bud', '--isolation', 'chroot', '-f', file, ...args, '--secret', secret, '-t', IMAGE, ROOT)
  }

  /** Writes the image as a folder in the layout of OCI, which other programs load. */
  async save(folder: string): Promise<void> {
    await this.buildah('push', IMAGE, `oci:${resolve(folder)}:flash-sale`)
  }

  /** The folder with all files of the image. */
  async mount(): Promise<string> {
    return this.buildah('mount', await this.buildah('from', IMAGE))
  }

  async buildah(...args: readonly string[]): Promise<string> {
    const [root, runroot] = ['images', 'run'].map((name) => join(this.#folder, name))
    const store = ['--storage-driver', 'vfs', '--root', root, '--runroot', runroot] as string[]
    const { stdout } = await execa('buildah', [...store, ...args])
    return stdout.trim()
  }

  async #makeRuntimeBase(): Promise<void> {
    const tar = join(this.#folder, 'runtime.tar')
    // Packages are unpacked and none of their scripts runs, so that neither a shell nor dpkg is needed inside.
    const hooks = ['--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr', `--extract-hook=${PACKAGE_LIST}`]
    const packages = `--include=${RUNTIME_PACKAGES}`
    await execa('mmdebstrap', ['--variant=extract', packages, ...hooks, `--extract-hook=${CLEAN}`, DEBIAN, tar])
    await this.#importBase('runtime', tar)
  }

  async #makeBuildBase(): Promise<void> {
    const tar = join(this.#folder, 'build.tar')
    await execa('mmdebstrap', ['--variant=minbase', DEBIAN, tar])
    const [local, npm] = [join(this.#folder, 'local'), dirname(dirname(realpathSync(findOnPath('npm') ?? '')))]
    const node = `node-linux-${process.arch}`
    await execa('npm', ['install', '--prefix', this.#folder, '--no-save', `${node}@${process.versions.node}`])
    for (const name of ['bin/node', 'LICENSE'])
      cpSync(join(this.#folder, 'node_modules', node, name), join(local, name))
    cpSync(npm, join(local, 'lib/node_modules/npm'), { recursive: true, dereference: true })
    symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'))
    await this.#importBase('build', tar, [local, '/usr/local/'])
  }

  async #importBase(name: string, ...added: readonly [tar: string, more?: readonly [from: string, to: string]]) {
    const [tar, more] = added
    const base = await this.buildah('from', 'scratch')
    await this.buildah('add', base, tar, '/')
    if (more) await this.buildah('add', base, ...more)
    await this.buildah('commit', base, `${IMAGE}-${name}`)
    await this.buildah('rm', base)
  }
}

/** The registry of this machine's npm, and the authorities that it and Node trust. */
async function npmConfiguration(): Promise<string> {
  const get = async (name: string) => (await execa('npm', ['config', 'get', name])).stdout
  const files = [await get('cafile'), process.env.NODE_EXTRA_CA_CERTS ?? 'null'].filter((file) => file !== 'null')
  const authorities = files.flatMap((file) => readFileSync(file, 'utf8').match(CERTIFICATE) ?? [])
  return [`registry=${await get('registry')}`, ...authorities.map((one) => `ca[]=${JSON.stringify(one)}`)].join('\n')
}

/** Installs what builds an image. */
export async function ensureBuilders(say?: (line: string) => void): Promise<void> {
  const otherwise = 'build deploy/Containerfile by a program of yours'
  for (const name of ['mmdebstrap', 'buildah'])
    await ensureProgram({ name, binaries: [name], apt: name, brew: name, otherwise }, say)
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2)
  if (folder === undefined) throw new Error('FOLDER is needed: where the image is written')
  await ensureBuilders(console.log)
  const store = new ImageStore(join(folder, 'store'))
  await store.build()
  await store.save(join(folder, 'image'))
}
