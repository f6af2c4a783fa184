/**
 * Mends the driver after an install (postgres.js 3.4.9, until a version with what driver.patch does is out). Unmended, a
 * connection that dies in mid-write or as it begins ends the process, or answers nobody for 20 s and more
 * (porsager/postgres#1154, #1208); a transaction whose connection has died goes on inside the next one that gets it
 * (#1216); and where a proxy hangs up at once, statements wait for ever, while it is called 800 times a second.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { applyPatch, parsePatch, reversePatch } from 'diff'

const driver = new URL('../', import.meta.resolve('postgres'))
const patch = readFileSync(new URL('./driver.patch', import.meta.url), 'utf8')

for (const change of parsePatch(patch)) {
  const file = new URL(change.newFileName?.replace(/^b\//, '') ?? '', driver)
  const source = readFileSync(file, 'utf8')
  if (applyPatch(source, reversePatch(change)) !== false) continue
  const mended = applyPatch(source, change)
  if (mended === false) throw new Error(`driver.patch does not fit ${file.pathname}: is it still needed?`)
  writeFileSync(file, mended)
}
