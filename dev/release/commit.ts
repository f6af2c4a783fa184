/** The code of a commit in a folder of its own, from which its programs run beside those of this repository. */
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { ROOT } from '../lib/build.ts'
import { LocalError, temporaryFolder } from '../lib/leftovers.ts'
import { releaseBefore } from './changelog.ts'

/** The commit of the release before this repository's version, as the changelog names it; HEAD before the first. */
export function previousCommit(): string {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  return releaseBefore(readFileSync(join(ROOT, 'docs/CHANGELOG.md'), 'utf8'), version)?.commit ?? 'HEAD'
}

/** Writes the files of a commit into a temporary folder, with its packages, and returns the folder. */
export async function codeOf(commit: string): Promise<string> {
  const { path } = temporaryFolder('commit')
  const [code, archive] = [join(path, 'code'), join(path, 'code.tar')]
  mkdirSync(code)
  const { exitCode, stderr } = await execa('git', ['archive', '--output', archive, commit], {
    cwd: ROOT,
    reject: false,
  })
  if (exitCode !== 0) throw new LocalError(`The commit ${commit} cannot be read: ${stderr.split('\n')[0]}`)
  await execa('tar', ['-xf', archive, '-C', code])
  rmSync(archive)
  if (packagesOf(code) === packagesOf(ROOT)) symlinkSync(join(ROOT, 'node_modules'), join(code, 'node_modules'))
  else await execa('npm', ['ci', '--include=dev', '--no-audit', '--no-fund'], { cwd: code })
  return code
}

/** What a lockfile says of packages, without the version of the repository itself. */
function packagesOf(folder: string): string {
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
  const { version: _, ...own } = lock.packages['']
  return JSON.stringify({ ...lock.packages, '': own })
}
