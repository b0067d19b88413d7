import { isAscii } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { documentFiles } from '../../src/emulator/documents.ts'
import { PATIENCE, succeed } from './run.ts'
import { type Packed, pack } from './tarball.ts'

/** Maximum bytes of the package: ten percent above the size at the time of writing. */
const BOUNDS = { tarball: 2_790_000, unpacked: 11_750_000 }

let packed: Packed

beforeAll(async () => {
  packed = await pack()
}, PATIENCE)

afterAll(() => packed?.remove())

test('the package contains its code, types, licences, fixtures, scenarios, templates and manual, and nothing else', () => {
  const paths = packed.files.map(({ path }) => path)
  const built = paths.filter((path) => path.startsWith('dist/'))
  const copied = paths.filter((path) => !path.startsWith('dist/'))
  expect(paths).toEqual(expect.arrayContaining(EXPECTED))
  const kinds =
    /^(fixtures\/[\w.-]+\.json|scenarios\/[\w-]+\.ts|docs\/([a-z]+\/)?[\w-]+\.(md|py)|skills\/[\w-]+\/SKILL\.md|src\/cli\/init\/templates\/.+)$/
  expect(copied.filter((path) => !kinds.test(path))).toEqual(['LICENSE', 'README.md', 'package.json'])
  const unknown = built.filter((path) => !EXPECTED.includes(path))
  expect(
    unknown.filter(
      (path) => !/^dist\/([\w-]+\.m?js(\.map)?|types\/.*\.d\.ts|dashboard\/[\w.-]+)$/.test(path),
    ),
  ).toEqual([])
})

const under = (folder: string, ...names: readonly string[]) => names.map((name) => `${folder}/${name}`)

const EXPECTED = [
  ...under('dist', 'cli.js', 'index.js', 'library.js', 'mcp-sdk.js', 'package.json', 'playwright.js'),
  ...under('dist', 'vite.mjs', 'vitest.mjs', 'llms-full.txt', 'llms.txt', 'mcp-sdk-LICENSES.txt'),
  ...under('dist', 'openapi.json', 'dashboard/LICENSES.txt'),
  ...under(
    'dist',
    ...['fault-rule', 'fixtures', 'scenario', 'settings', 'state'].map((name) => `${name}.schema.json`),
  ),
  ...under('dist/types', 'index.d.ts', 'playwright.d.ts', 'vite-client.d.ts', 'vite.d.mts', 'vitest.d.mts'),
  ...under('fixtures', 'demo.json', 'demo.seed-1.json', 'empty.json', 'large.json'),
  'scenarios/happy-path.ts',
  ...under('src/cli/init/templates', 'common/compose.yaml', 'vitest/.github/workflows/workspace-vitest.yml'),
]

test('the package size is within its bounds', () => {
  const unpacked = packed.files.reduce((sum, { bytes }) => sum + bytes.length, 0)
  console.log(
    `package: ${packed.files.length} files, ${packed.size} bytes packed, ${unpacked} bytes unpacked\n${packed.files
      .filter(({ bytes }) => bytes.length > 20_000)
      .map(({ path, bytes }) => `  ${bytes.length} ${path}`)
      .join('\n')}`,
  )
  expect(packed.size).toBeLessThan(BOUNDS.tarball)
  expect(unpacked).toBeLessThan(BOUNDS.unpacked)
})

/** Packages whose results a client sees: the same seed must give the same bytes on every installation. */
const DECIDE_OUTPUT = [
  '@eslint-community/regexpp',
  '@faker-js/faker',
  'ajv',
  'ajv-formats',
  'croner',
  'picomatch',
  're2js',
]

test('packages that decide the output have an exact version', async () => {
  const { dependencies } = (await manifestOf(packed)) as { dependencies: Record<string, string> }
  const exact = Object.keys(dependencies).filter((name) => /^\d+\.\d+\.\d+$/.test(dependencies[name] ?? ''))
  expect(exact.sort()).toEqual(DECIDE_OUTPUT)
})

test('every package that the scripts import is a dependency, and every dependency is imported', async () => {
  const { dependencies } = (await manifestOf(packed)) as { dependencies: object }
  const scripts = packed.files.filter(({ path }) => /^dist\/[\w-]+\.m?js$/.test(path))
  const imported = scripts.flatMap(({ bytes }) =>
    [
      ...bytes
        .toString('utf8')
        .matchAll(/\b(?:(?:require|load)(?:\$\d+)?|import|\.href\))\(["']((?:@[\w-]+\/)?[a-z][\w-]*)["'/]/g),
    ].map(([, name = '']) => name),
  )
  const isForUser = (name: string) => ['@playwright/test', 'vitest', 'url'].includes(name)
  // Only the types of the package import it.
  const all = new Set([...imported, '@standard-schema/spec'])
  expect([...all].filter((name) => !isForUser(name)).sort()).toEqual(Object.keys(dependencies).sort())
})

test("only the command turns on Node's compile cache, because the library runs in the process of its user", () => {
  const using = packed.files.filter(
    ({ path, bytes }) => /\.m?js$/.test(path) && bytes.includes('enableCompileCache'),
  )
  expect(using.map(({ path }) => path)).toEqual(['dist/cli.js'])
})

// One other character makes Node keep the whole file as text of two bytes a character, which loads more slowly.
test('the scripts that a start loads are ASCII', () => {
  const loaded = packed.files.filter(({ path }) => /^dist\/(?:library\d*|start)\.js$/.test(path))
  expect(loaded.length).toBeGreaterThan(1)
  for (const { path, bytes } of loaded) expect(isAscii(bytes), path).toBe(true)
})

test('the test runners are optional, and there are no install scripts', async () => {
  const manifest = await manifestOf(packed)
  const peers = Object.keys(manifest.peerDependencies as object)
  expect(manifest.peerDependenciesMeta).toEqual(
    Object.fromEntries(peers.map((name) => [name, { optional: true }])),
  )
  const scripts = Object.keys(manifest.scripts as object)
  expect(scripts.filter((script) => /^(pre|post)?(install|prepare)$/.test(script))).toEqual([])
})

test('the README names the same versions of Node as the package, which are those that are tested', () => {
  const { engines } = JSON.parse(textOf('package.json')) as { engines: { node: string } }
  const majors = [...engines.node.matchAll(/(\d+)\.\d+\.\d+/g)].map(([, major]) => major)
  expect(majors.length).toBeGreaterThan(1)
  const [, named = ''] = /with the newest Node ([\d,\sand]+)\./.exec(textOf('README.md')) ?? []
  expect(named.match(/\d+/g)).toEqual(majors)
})

test('no file of the package contains a name of this machine, a registry or a secret', async () => {
  const { out } = await succeed('.', 'npm', ['config', 'get', 'registry'])
  const registry = new URL(out.trim()).host
  const forbidden = [
    new RegExp(`(?<![\\w.])${literally(resolve('.'))}(?![\\w-])`),
    new RegExp(`(?<![\\w.])${literally(homedir())}/`),
    new RegExp(literally(registry)),
    /registry\.\w+\.\w+|_authToken/,
    /\bnpm_[A-Za-z0-9]{36}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b|-----BEGIN [A-Z ]*PRIVATE KEY-----/,
    /"resolved"|"_resolved"|"_where"/,
  ]
  const found = packed.files.flatMap(({ path, bytes }) => {
    const text = bytes.toString('utf8')
    return forbidden.flatMap((pattern) => {
      const match = pattern.exec(text)
      if (match === null) return []
      return [`${path}: ${text.slice(Math.max(0, match.index - 40), match.index + 60)}`]
    })
  })
  expect(found).toEqual([])
})

test('the documents of the package are those of this version', () => {
  for (const [file, make] of Object.entries(documentFiles))
    expect([file, JSON.parse(textOf(`dist/${file}`))]).toEqual([file, make()])
})

test('every package that is in the dashboard is listed with its licence, and no other', () => {
  const text = textOf('dist/dashboard/LICENSES.txt')
  const named = text.matchAll(/^((?:@[\w.-]+\/)?[\w.-]+) \d+\.\d+\.\d+ \(\w+\)$/gm)
  expect([...named].map(([, name]) => name)).toEqual([
    '@preact/signals',
    '@preact/signals-core',
    'jsonc-parser',
    'lucide',
    'preact',
  ])
  expect(text.match(/Permission is hereby granted|Permission to use/g)?.length).toBeGreaterThanOrEqual(5)
})

test('source maps refer to our own sources and include them', () => {
  for (const { path, bytes } of packed.files.filter((file) => file.path.endsWith('.map'))) {
    const map = JSON.parse(bytes.toString('utf8')) as { sources: string[]; sourcesContent: string[] }
    expect(
      map.sources.filter((source) => !/^(\.\.\/)+src\/|^<stdin>|^(\.\.\/)+<stdin>/.test(source)),
    ).toEqual([])
    expect(map.sourcesContent.map((content) => typeof content)).toEqual(map.sources.map(() => 'string'))
    expect(path).toMatch(/^dist\//)
  }
})

test('the types import only Node, dependencies with their own types, the test runners and Vite', async () => {
  const { dependencies } = (await manifestOf(packed)) as { dependencies: object }
  const known = [...Object.keys(dependencies), 'vite', 'vitest', '@playwright/test']
  for (const { path, bytes } of packed.files.filter((file) => /\.d\.m?ts$/.test(file.path))) {
    const text = bytes.toString('utf8')
    const imports = [...text.matchAll(/(?:from|import\()\s*['"]([\w@:./-]+)['"]/g)].map(
      ([, target = '']) => target,
    )
    const others = imports.filter((target) => !/^(node:|\.)/.test(target))
    expect(
      others.filter((target) => !known.some((name) => target === name || target.startsWith(`${name}/`))),
      path,
    ).toEqual([])
  }
})

test('publint reports no problem', async () => {
  const manifest = await manifestOf(packed)
  const { messages } = await publint({
    pkgDir: packed.folder,
    pack: false,
    strict: true,
    level: 'suggestion',
  })
  expect(messages.map((message) => formatMessage(message, manifest, { color: false }))).toEqual([])
})

/**
 * Vitest and Vite consist only of ES modules, and so do their entry points here: `require` cannot load them. The module resolution
 * from before `exports` has been removed from TypeScript, and does not support a second entry point.
 */
const ACCEPTED = [
  'CJSResolvesToESM ./vitest node16-cjs',
  'NoResolution ./vitest node10',
  'CJSResolvesToESM ./vite node16-cjs',
  'NoResolution ./vite node10',
  'NoResolution ./vite/client node10',
  'NoResolution ./playwright node10',
  'NoResolution ./openapi.json node10',
]

test('the types are correct for every way to import', async () => {
  const types = createPackageFromTarballData(await readFile(packed.tarball))
  const result = await checkPackage(types)
  if (result.types === false) throw new Error('There are no types in the package.')
  const problems = result.problems.map((problem) =>
    'entrypoint' in problem
      ? `${problem.kind} ${problem.entrypoint} ${problem.resolutionKind}`
      : JSON.stringify(problem),
  )
  expect(problems.filter((problem) => !ACCEPTED.includes(problem))).toEqual([])
})

function literally(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

function textOf(path: string): string {
  const file = packed.files.find((each) => each.path === path)
  if (file === undefined) throw new Error(`${path} is not in the package.`)
  return file.bytes.toString('utf8')
}

async function manifestOf({ folder }: Packed): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(`${folder}/package.json`, 'utf8')) as Record<string, unknown>
}
