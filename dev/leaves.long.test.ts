/**
 * The types of the rest hold without the feed, the promo codes and Queue-it, and its tests pass: all pure ones, and
 * those of the origin that do not call the routes of what is deleted. Each feature's use with the others is tested by
 * files that name its routes.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { testsByProject } from '../test/run/tiers.ts'
import { checkTypes, withoutFeatures } from './leaves.ts'

/** Tests that name these call a deleted feature. */
const CALLS = /promo-codes|\/feed\b|\/announcement|'announce'/

test('without the feed, the promo codes and Queue-it the rest is whole', async () => {
  await withoutFeatures(async (copy) => {
    await checkTypes(copy)
    const { pure, origin } = testsByProject(copy)
    const calls = (file: string) => CALLS.test(readFileSync(join(copy, file), 'utf8'))
    // The crowd of a rehearsal reads the feed, and brings promo codes.
    const ofRest = origin.filter((file) => !file.startsWith('bench/rehearsal/') && !calls(file))
    expect(ofRest.length).toBeGreaterThan(origin.length / 2)
    // The documents of the API describe the routes of all features.
    const pureRest = pure.filter((file) => !file.startsWith('dev/openapi/'))
    const run = ['run', '--config', 'test/vitest.config.ts', ...pureRest, ...ofRest]
    const { exitCode, all } = await execa('vitest', run, { cwd: copy, preferLocal: true, reject: false, all: true })
    expect(exitCode, all).toBe(0)
  })
})
