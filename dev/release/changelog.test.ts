/** What a release makes of the changelog, and what it needs. */
import { expect, test } from 'vitest'
import { dated, isBefore, refusalOf, releaseBefore, releasesIn, unreleasedIn, withCommit } from './changelog.ts'

const [FIRST, SECOND] = ['a'.repeat(40), 'b'.repeat(40)]
const TEXT = `# Changelog

## Unreleased

- **A column** for all.

## 0.3.0, 2026-11-29

Commit \`${FIRST}\`.

- **Everything** before.

## 0.2.0

The first version.
`

test('entries get a version and a day, and then their commit', () => {
  expect(unreleasedIn(TEXT)).toBe('- **A column** for all.')
  const text = dated(TEXT, '0.3.1', '2026-12-01')
  expect(text).toContain('\n## Unreleased\n\n## 0.3.1, 2026-12-01\n\n- **A column** for all.\n')
  expect(unreleasedIn(text)).toBe('')
  expect(releasesIn(text)).toEqual([{ version: '0.3.0', commit: FIRST }])
  const named = withCommit(text, { version: '0.3.1', commit: SECOND })
  expect(named).toContain(`## 0.3.1, 2026-12-01\n\nCommit \`${SECOND}\`.\n\n- **A column**`)
  expect(withCommit(named, { version: '0.3.1', commit: FIRST })).toBe(named)
  expect(releasesIn(named).map(({ version }) => version)).toEqual(['0.3.1', '0.3.0'])
})

test('the release before a version is the newest one that is older, or else the newest', () => {
  const text = withCommit(dated(TEXT, '0.3.1', '2026-12-01'), { version: '0.3.1', commit: SECOND })
  expect(['0.3.0', '0.3.1', '0.3.2'].map((version) => releaseBefore(text, version)?.version)).toEqual([
    ...['0.3.1', '0.3.0', '0.3.1'],
  ])
  expect(releaseBefore('# Changelog\n', '0.3.0')).toBeUndefined()
})

test('versions are compared by their numbers', () => {
  expect(['0.3.0', '0.10.0', '0.2.9'].map((other) => isBefore('0.2.9', other))).toEqual([true, true, false])
})

test('a release needs a higher version, a clean tree and entries', () => {
  const before = { current: '0.3.0', changelog: TEXT, isClean: true, tags: ['v0.3.0', 'v0.4.0'] }
  expect(refusalOf('0.3.1', before)).toBeNull()
  expect(refusalOf('0.10.0', before)).toBeNull()
  const why = ['0.3', 'v0.3.1', '0.3.0', '0.2.9', '0.4.0'].map((version) => refusalOf(version, before))
  expect(why).toEqual([
    '"0.3" is no version of three numbers.',
    '"v0.3.1" is no version of three numbers.',
    '0.3.0 is not higher than 0.3.0, the version of package.json.',
    '0.2.9 is not higher than 0.3.0, the version of package.json.',
    'The tag v0.4.0 exists already.',
  ])
  expect(refusalOf('0.3.1', { ...before, isClean: false })).toBe('The tree has changes that are not committed.')
  const released = dated(TEXT, '0.3.1', '2026-12-01')
  expect(refusalOf('0.3.2', { ...before, changelog: released })).toMatch(/no entries under "Unreleased"/)
})
