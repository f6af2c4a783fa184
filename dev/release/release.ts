/**
 * The command `npm run release -- VERSION` cuts a release: sets its version, dates its entries of the changelog, runs
 * all checks on just this, packs the client, commits, tags, and names the commit in the changelog.
 */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { ROOT } from '../lib/build.ts'
import { optionsOf, run, UsageError } from '../lib/command.ts'
import { dated, refusalOf, releasesIn, withCommit } from './changelog.ts'

const HELP = `Cuts a release from a clean tree: sets the version everywhere, dates the entries under "Unreleased" of
docs/CHANGELOG.md, runs the checks and tests, packs the client to release/, commits and tags. A second commit names the
first in the changelog. What fails leaves the tree as it was. Run again, it finishes what was interrupted after the
commit. Nothing is pushed or published.

  npm run release -- VERSION [options]      three numbers, higher than those of package.json

  --long       also runs the long tier
  --dry-run    only checks whether the release could be cut, and says what would be done
  --help       this text

Exit status: 0 cut, 1 not cut, 2 it cannot be cut.`

const CHANGELOG = 'docs/CHANGELOG.md'
/** The files that name the image of this version. */
const IMAGES = 'deploy/kubernetes/*/kustomization.yaml'

type Command = readonly [string, ...string[]]
const CHECKS: readonly Command[] = [
  ['npm', 'run', 'check'],
  ['npm', 'test'],
]
const LONG: Command = ['npm', 'run', 'test:long']

interface Options {
  /** The folder of the repository. */
  readonly root: string
  readonly version: string
  /** What must succeed after the version is set. */
  readonly checks: readonly Command[]
  readonly say: (line: string) => void
}

/** A release that is being cut. */
export class Release {
  readonly #options: Options
  /** True while files are changed and not committed. */
  #isChanging = false

  constructor(options: Options) {
    this.#options = options
  }

  /** Throws a UsageError if the release cannot be cut. */
  async cut({ dryRun = false } = {}): Promise<void> {
    const { version, checks, say } = this.#options
    const isCommitted = await this.#isCommitted()
    if (!isCommitted) await this.#require()
    const steps = checks.map((check) => check.join(' ')).join(', ')
    if (dryRun && !isCommitted)
      return say(
        `${version} can be cut: its version is set, then ${steps}, the client is packed, a commit and a tag made.`,
      )
    if (dryRun)
      return say(`The commit of ${version} is made: its tag and its name in the changelog remain, if missing.`)
    if (!isCommitted) await this.#commit()
    await this.#name()
  }

  /** Takes the files back as they were, if they are changed and not committed. */
  async undo(): Promise<void> {
    if (!this.#isChanging) return
    this.#isChanging = false
    await this.#git('checkout', '--quiet', 'HEAD', '--', '.')
  }

  /** True for a release that was interrupted after its commit, or is complete. */
  async #isCommitted(): Promise<boolean> {
    const { version } = this.#options
    return this.#current() === version && this.#read(CHANGELOG).includes(`\n## ${version}, `)
  }

  async #require(): Promise<void> {
    const { version } = this.#options
    const refusal = refusalOf(version, {
      current: this.#current(),
      changelog: this.#read(CHANGELOG),
      isClean: (await this.#git('status', '--porcelain')) === '',
      tags: (await this.#git('tag')).split('\n'),
    })
    if (refusal !== null) throw new UsageError(refusal)
  }

  async #commit(): Promise<void> {
    const { root, version, checks, say } = this.#options
    this.#isChanging = true
    try {
      await this.#setVersion()
      for (const [program, ...args] of checks) {
        say(`${program} ${args.join(' ')}`)
        await execa(program, args, { cwd: root, stdio: 'inherit' })
      }
      say('Packing the client')
      mkdirSync(join(root, 'release'), { recursive: true })
      await execa('npm', ['pack', '--pack-destination', '../release'], { cwd: join(root, 'client') })
      await this.#git('commit', '--quiet', '--all', '--message', `release: ${version}`)
      this.#isChanging = false
    } finally {
      await this.undo()
    }
  }

  async #setVersion(): Promise<void> {
    const { root, version } = this.#options
    for (const cwd of [root, join(root, 'client')])
      await execa('npm', ['version', '--no-git-tag-version', version], { cwd })
    for (const file of globSync(IMAGES, { cwd: root }))
      this.#write(file, this.#read(file).replace(/newTag: .+/, `newTag: ${version}`))
    this.#write(CHANGELOG, dated(this.#read(CHANGELOG), version, new Date().toISOString().slice(0, 10)))
    await execa(process.execPath, ['dev/openapi/openapi.ts'], { cwd: root })
  }

  /** The tag, and the commit's name in the changelog; whatever is there already stays. */
  async #name(): Promise<void> {
    const { version, say } = this.#options
    const tag = `v${version}`
    if ((await this.#git('tag', '--list', tag)) === '') {
      const subject = await this.#git('log', '-1', '--format=%s')
      if (subject !== `release: ${version}`)
        throw new UsageError(`The release ${version} has no tag, and HEAD is not its commit: tag that one ${tag}.`)
      await this.#git('tag', '--annotate', tag, '--message', version)
    }
    const commit = await this.#git('rev-parse', `${tag}^{commit}`)
    const text = this.#read(CHANGELOG)
    if (releasesIn(text).some((release) => release.version === version)) return say(`${version} is cut.`)
    this.#write(CHANGELOG, withCommit(text, { version, commit }))
    await this.#git('commit', '--quiet', '--message', `release: name the commit of ${version}`, CHANGELOG)
    say(`${version} is cut: push both commits, as they are, and the tag ${tag}.`)
  }

  readonly #read = (file: string) => readFileSync(join(this.#options.root, file), 'utf8')
  readonly #write = (file: string, text: string) => writeFileSync(join(this.#options.root, file), text)
  readonly #current = () => (JSON.parse(this.#read('package.json')) as { version: string }).version

  async #git(...args: string[]): Promise<string> {
    return (await execa('git', args, { cwd: this.#options.root })).stdout
  }
}

if (import.meta.main) {
  let release: Release | undefined
  await run(
    HELP,
    'The release is not cut:',
    async () => {
      const [version = '', ...args] = process.argv.slice(2)
      if (version === '' || version.startsWith('-'))
        throw new UsageError('A VERSION is needed. See npm run release -- --help')
      const { long, 'dry-run': dryRun } = optionsOf('run release', { texts: [], flags: 'long dry-run' }, args)
      const checks = long ? [...CHECKS, LONG] : CHECKS
      release = new Release({ root: ROOT, version, checks, say: console.log })
      await release.cut({ dryRun })
      return 0
    },
    async () => release?.undo(),
    { failed: 1, interrupted: 130 },
  )
}
