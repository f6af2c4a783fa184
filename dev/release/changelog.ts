/** The changelog as a release changes it: its entries get a version and a date, and then the commit of the release. */

/** A release that the changelog names with its commit. */
export interface Release {
  readonly version: string
  readonly commit: string
}

const UNRELEASED = '## Unreleased\n'
const COMMITS = /^## (?<version>\d+\.\d+\.\d+), .*\n\nCommit `(?<commit>[0-9a-f]{40})`/gm

/** The entries of the next release; empty if there are none. */
export function unreleasedIn(text: string): string {
  const [, after = ''] = text.split(`\n${UNRELEASED}`)
  return (after.split('\n## ')[0] ?? '').trim()
}

/** The entries get a version and the day, and a new section without entries stands before them. */
export const dated = (text: string, version: string, day: string): string =>
  text.replace(`\n${UNRELEASED}`, () => `\n${UNRELEASED}\n## ${version}, ${day}\n`)

/** A commit cannot contain its own name, so that of a release is written after it. */
export const withCommit = (text: string, { version, commit }: Release): string =>
  text.replace(
    new RegExp(`^(## ${version.replaceAll('.', '\\.')}, .*\\n\\n)(?!Commit )`, 'm'),
    `$1Commit \`${commit}\`.\n\n`,
  )

/** The releases with their commits, the newest first. */
export const releasesIn = (text: string): Release[] =>
  [...text.matchAll(COMMITS)].map(({ groups }) => ({ version: groups?.version ?? '', commit: groups?.commit ?? '' }))

/** The release before this version; without one the newest, if any. */
export function releaseBefore(text: string, version: string): Release | undefined {
  const releases = releasesIn(text)
  return releases.find((release) => isBefore(release.version, version)) ?? releases[0]
}

/** Compares versions by their numbers. */
export const isBefore = (one: string, other: string): boolean => one.localeCompare(other, 'en', { numeric: true }) < 0

/** The state of the repository before a release. */
interface Before {
  /** The version of package.json. */
  readonly current: string
  readonly changelog: string
  readonly isClean: boolean
  readonly tags: readonly string[]
}

/** A sentence that says why this version cannot be released, or null. */
export function refusalOf(version: string, { current, changelog, isClean, tags }: Before): string | null {
  if (!/^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$/.test(version)) return `"${version}" is no version of three numbers.`
  if (!isBefore(current, version)) return `${version} is not higher than ${current}, the version of package.json.`
  if (tags.includes(`v${version}`)) return `The tag v${version} exists already.`
  if (!isClean) return 'The tree has changes that are not committed.'
  if (unreleasedIn(changelog) === '') return 'docs/CHANGELOG.md has no entries under "Unreleased".'
  return null
}
