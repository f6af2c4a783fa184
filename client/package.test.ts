/** The package as it is published: what is in it, and that every example of its docs compiles against it. */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { temporaryFolder } from '../dev/lib/leftovers.ts'

const CLIENT = fileURLToPath(new URL('.', import.meta.url))
const MODULES = fileURLToPath(new URL('../node_modules', import.meta.url))
const ENTRIES = ['index', 'operators', 'webhooks', 'tokens']
const readText = (path: string) => readFileSync(path, 'utf8')

/** A project of an adopter, with the packed files and jose as its only packages. */
const folder = temporaryFolder('client-package')
const adopted = join(folder.path, 'node_modules/@flash-sale/client')
beforeAll(async () => {
  await execa('tsc', ['--project', 'tsconfig.build.json', '--outDir', join(adopted, 'dist')], {
    cwd: CLIENT,
    preferLocal: true,
  })
  for (const file of ['package.json', 'README.md']) cpSync(join(CLIENT, file), join(adopted, file))
  symlinkSync(join(MODULES, 'jose'), join(folder.path, 'node_modules/jose'))
}, 60_000)
afterAll(() => folder.remove())

const sources = () => globSync('src/*.ts', { cwd: CLIENT }).filter((file) => !file.endsWith('.test.ts'))
const examplesIn = (text: string) => [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code)
/** The text of a file without the stars of its comments. */
const uncommented = (text: string) => text.replaceAll(/^ *\* ?/gm, '')

test('every public symbol has an example', () => {
  const exported = ENTRIES.flatMap((entry) => {
    const text = readText(join(CLIENT, `src/${entry}.ts`))
    const values = [...text.matchAll(/^export \{ ([^}]+) \}/gm)].flatMap(([, names = '']) => names.split(', '))
    const own = [...text.matchAll(/^export (?:async )?(?:class|function|interface|type) (\w+)/gm)].map(
      ([, name = '']) => name,
    )
    return [...values, ...own]
  })
  expect(exported.length).toBeGreaterThan(12)
  const all = sources()
    .map((file) => readText(join(CLIENT, file)))
    .join('\n')
  const documented = (name: string) =>
    new RegExp(
      `@example(?:(?!\\*/)[\\s\\S])*\\*/\\nexport (?:async )?(?:class|function|interface|type) ${name}\\b`,
    ).test(all)
  expect(exported.filter((name) => !documented(name))).toEqual([])
  // The public methods of classes, which are indented once.
  const methods = [...all.matchAll(/((?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?) {2}(?:async )?(\*?[a-z]\w*)(?:<[^(]*)?\(/g)]
    .filter(([, , name]) => !['constructor', 'if', 'for', 'super'].includes(name ?? ''))
    .filter(([text]) => text.includes('/**'))
  expect(methods.length).toBeGreaterThan(12)
  expect(methods.filter(([, comment = '']) => !comment.includes('@example')).map(([, , name]) => name)).toEqual([])
})

test('every example compiles against the package, without the types of any runtime', async () => {
  const texts = [
    ...sources().map((file) => uncommented(readText(join(CLIENT, file)))),
    readText(join(CLIENT, 'README.md')),
  ]
  const examples = texts.flatMap(examplesIn)
  expect(examples.length).toBeGreaterThan(30)
  for (const [i, code] of examples.entries())
    writeFileSync(join(folder.path, `example-${i}.ts`), `${code}\nexport {}\n`)
  const options = {
    strict: true,
    noEmit: true,
    target: 'ES2022',
    module: 'NodeNext',
    moduleDetection: 'force',
    lib: ['ES2023', 'DOM', 'DOM.Iterable'],
    types: [],
  }
  writeFileSync(join(folder.path, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['*.ts'] }))
  writeFileSync(join(folder.path, 'package.json'), '{ "type": "module" }')
  const { stdout, exitCode } = await execa('tsc', ['--project', folder.path], { preferLocal: true, reject: false })
  expect(exitCode, stdout).toBe(0)
})

test('needs jose alone, and nothing of a runtime', async () => {
  const { dependencies, exports, files } = JSON.parse(readText(join(CLIENT, 'package.json')))
  expect(Object.keys(dependencies)).toEqual(['jose'])
  expect(files).toEqual(['dist', 'README.md'])
  for (const { types, default: script } of Object.values<{ types: string; default: string }>(exports))
    expect([existsSync(join(adopted, types)), existsSync(join(adopted, script))]).toEqual([true, true])
  const imported = globSync('dist/**/*.js', { cwd: adopted }).flatMap((file) =>
    [...readText(join(adopted, file)).matchAll(/ from '([^']+)';$/gm)].map(([, from = '']) => from),
  )
  expect([...new Set(imported.filter((from) => !from.startsWith('.')))]).toEqual(['jose'])
  mkdirSync(join(folder.path, 'run'), { recursive: true })
  const paths = ENTRIES.map((entry) => (entry === 'index' ? '' : `/${entry}`))
  const script = paths.map((path) => `import '@flash-sale/client${path}'\n`).join('')
  writeFileSync(join(folder.path, 'run/all.js'), script)
  expect(await execa(process.execPath, [join(folder.path, 'run/all.js')])).toMatchObject({ exitCode: 0 })
})

test('has the version of the interface', () => {
  const root = JSON.parse(readText(join(CLIENT, '../package.json')))
  expect(JSON.parse(readText(join(CLIENT, 'package.json')))).toMatchObject({
    version: root.version,
    dependencies: { jose: root.dependencies.jose },
  })
})
