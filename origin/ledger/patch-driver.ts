/**
 * Mends the driver after an install (postgres.js 3.4.9, until a version with what driver.patch does is out). Unmended, a
 * connection that dies in mid-write or as it begins ends the process, or answers nobody for 20 s and more
 * (porsager/postgres#1154, #1208); a transaction whose connection has died goes on inside the next one that gets it
 * (#1216); and where a proxy hangs up at once, statements wait for ever, while it is called 800 times a second. A server
 * that vanishes without a word is waited for until TCP gives it up, a quarter of an hour: `response_timeout` is ours.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { applyPatch, parsePatch, reversePatch, type StructuredPatch } from 'diff'

const driver = new URL('../', import.meta.resolve('postgres'))

/** What is done to each file of the driver. */
export const changes = parsePatch(readFileSync(new URL('./driver.patch', import.meta.url), 'utf8'))
export const fileOf = (change: StructuredPatch) =>
  new URL(change.newFileName?.replace(/^b\//, '') ?? '', driver)

/** The file as it is to be; piece by piece, since an earlier driver.patch may have done some of it. */
export function mended(source: string, change: StructuredPatch): string {
  return change.hunks.reduce((text, hunk) => {
    const piece = { ...change, hunks: [hunk] }
    if (applyPatch(text, reversePatch(piece)) !== false) return text
    const done = applyPatch(text, piece)
    if (done === false)
      throw new Error(`driver.patch does not fit ${fileOf(change).pathname}: is it still needed?`)
    return done
  }, source)
}

for (const change of changes) {
  const file = fileOf(change)
  const source = readFileSync(file, 'utf8')
  const text = mended(source, change)
  if (text !== source) writeFileSync(file, text)
}
