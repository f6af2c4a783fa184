/** Seeds of long tests. `TEST_SEED` repeats a run. */

/** Prints the seed, and how to repeat the file with it. */
export function seedOf(usual = Math.floor(Math.random() * 2 ** 31)): number {
  const seed = Number(process.env.TEST_SEED ?? usual)
  console.log(`Seed ${seed}; once more: TEST_SEED=${seed} npm run test:long -- FILE`)
  return seed
}
