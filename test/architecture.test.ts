import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { requestPassages } from './shape/requests.ts'
import { declaredTwice, linesOf, sourceFiles } from './shape/source.ts'

/** One source file: its path below `src`, its text without comments, and its imports. */
interface Source {
  readonly path: string
  readonly code: string
  readonly imports: readonly string[]
}

const sources = readSources('src')

/** The packages that each layer and module may use. Builtins of Node are named where a module needs them. */
const CORE_PACKAGES = [
  'zod',
  'fastest-levenshtein',
  'tinyqueue',
  're2js',
  'picomatch',
  'node:crypto',
  'node:module',
  'node:util',
  'node:vm',
  'node:zlib',
]
const RESOURCE_PACKAGES = ['zod', 'picomatch', 'node:crypto', 'node:net']
const JSON_SCHEMA_PACKAGES = [
  'ajv/dist/2020.js',
  'ajv-formats',
  'node:module',
  '@eslint-community/regexpp',
  '@faker-js/faker',
  '@faker-js/faker/locale/en',
]
const MODULE_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  agents: ['croner', 'node:module'],
}
const ADAPTER_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  http: ['express', 'zod'],
  'route-table.ts': ['fastest-levenshtein'],
  scenarios: ['chokidar', 'jiti', 'zod'],
  control: ['express', 'zod'],
  consent: ['express', 'node:crypto'],
  storage: ['lowdb', 'chokidar'],
  cli: ['@modelcontextprotocol/server', 'commander', 'pino', 'pino-pretty', 'zod'],
  testing: ['vitest', '@playwright/test', 'zod'],
  dashboard: ['preact', '@preact/signals', 'lucide', 'jsonc-parser'],
  'json-text.ts': ['jsonc-parser'],
  'fixtures.ts': ['zod'],
}

/** Calls that are allowed in one place only. */
const BANNED: readonly { readonly call: RegExp; readonly home: RegExp; readonly instead: string }[] = [
  {
    call: /\bDate\.now\(|\bperformance\.now\b/,
    home: /^(core\/time\/real|adapters\/dashboard\/app\/browser)\.ts$/,
    instead: 'use the `now` that handlers are given, clock.now, or elapsedTime for how long something took',
  },
  {
    call: /\bnew Date\(\)/,
    home: /^$/,
    instead: 'use the `at` that handlers are given, or formatInstant(now)',
  },
  {
    call: /\breal\.set(?:Timeout|Interval)\(/,
    home: /^adapters\/realtime\.ts$/,
    instead: 'schedule an event, or take `later` from core/time/realtime.ts',
  },
  {
    call: /(?<!\breal\s*\.)\b(?:(?:set|clear)(?:Timeout|Interval|Immediate)|queueMicrotask)\(/,
    home: /^adapters\/dashboard\/app\//,
    instead: 'a test may have replaced it with a fake one: use `real` from core/time/real.ts',
  },
  {
    call: /\bMath\.random\(|\brandomUUID\(/,
    home: /^core\/random\.ts$/,
    instead: 'use chance(...labels), newId() or newUuid()',
  },
  {
    call: /\bprocess\.env\b/,
    // The dashboard shows snippets of code that users copy into their own programs.
    home: /^adapters\/(cli\/options|testing\/running|dashboard\/app\/snippets)\.ts$/,
    instead: 'add an option to terminal/options.ts',
  },
  {
    call: /\bconsole\./,
    home: /^adapters\/cli\//,
    instead: 'use the logger that the composition root hands on',
  },
  {
    call: /\bsetFlagsFromString\b|\bprocess\.(?:on|once|umask|chdir)\(|\bprocess\.title\b|\bError\.(?:stackTraceLimit|prepareStackTrace)\b|\bglobalAgent\b|\bsetGlobalDispatcher\b/,
    home: /^adapters\/cli\/.*$/,
    instead: 'the library runs in the process of its user, whose flags, listeners and agents it leaves alone',
  },
  {
    call: /\.(?:push|unshift)\(\.\.\.|\bMath\.(?:max|min)\((?:[^()\n]*, )?\.\.\.|\bfromC(?:harCode|odePoint)\(\.\.\./,
    home: /^$/,
    instead: 'a call with more than about 100,000 arguments overflows the stack: use a loop, or `reduce`',
  },
]

test('the clock, randomness, timers, the environment and the console are each used in one place only', () => {
  const found = sources.flatMap(({ path, code }) =>
    BANNED.filter(({ call, home }) => call.test(code) && !home.test(path)).map(
      ({ call, instead }) => `${path}: ${call.source} is banned here: ${instead}`,
    ),
  )
  expect(found).toEqual([])
})

test('imports follow the layers: core, then resources and adapters, then emulator.ts', () => {
  const found = sources.flatMap(({ path, imports }) =>
    imports.flatMap((target) => {
      const reason = forbidden(path, target)
      return reason === undefined ? [] : [`${path} imports ${target}: ${reason}`]
    }),
  )
  expect(found).toEqual([])
})

test('core does not depend on resources: its code never contains the word batch', () => {
  const found = sources.filter(({ path, code }) => {
    return path.startsWith('core/') && /batch/i.test(code)
  })
  expect(
    found.map(({ path }) => `${path} names a resource: let the resource declare it, and read that`),
  ).toEqual([])
})

test('faults are outside the pipeline: only three files of core import them', () => {
  const found = sources.filter(({ path, imports }) => {
    const isOutside = path.startsWith('core/') && !path.startsWith('core/faults/')
    return isOutside && imports.some((target) => target.startsWith('core/faults/'))
  })
  expect(
    found.map(({ path }) => path).sort(),
    'act through the hooks of an exchange (core/faults/hooks.ts) instead',
  ).toEqual(['core/explain/trace.ts', 'core/sandboxes/sandbox.ts', 'core/service.ts'])
})

test('faults act on HTTP from one place: only api.ts imports them', () => {
  const found = sources.filter(({ path, imports }) => {
    const isOutside = path.startsWith('adapters/http/') && !path.startsWith('adapters/http/faults/')
    return isOutside && imports.some((target) => target.startsWith('adapters/http/faults/'))
  })
  expect(found.map(({ path }) => path)).toEqual(['server/http/api.ts'])
})

test('there are no import cycles, type imports included', () => {
  const graph = new Map(sources.map(({ path, imports }) => [path, imports]))
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(' > '))
    if (done.has(path) || trail.includes(path)) return
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path])
    done.add(path)
  }
  for (const path of graph.keys()) visit(path, [])
  expect(circles).toEqual([])
})

test('src contains only the layers, the entry points and the composition root', () => {
  const top = new Set(sources.map(({ path }) => path.split('/')[0]))
  expect([...top].sort()).toEqual([
    'adapters',
    'core',
    'documents.ts',
    'emulator.ts',
    'index.ts',
    'json-schema',
    'options.ts',
    'playwright.ts',
    'resources',
    'sandbox-maker.ts',
    'scenario-checks.ts',
    'service.ts',
    'vite-client.ts',
    'vite.ts',
    'vitest.ts',
  ])
})

test('no exported name is declared in two files', () => {
  const found = [...declaredTwice(sourceFiles('.'))].map(([name, paths]) => `${name}: ${paths.join(', ')}`)
  expect(found, 'rename one, or declare it once').toEqual([])
})

test('no file of src has more than 400 lines of code', () => {
  const long = sources.filter(({ code }) => code.split('\n').length > 400).map(({ path }) => path)
  expect(long).toEqual([])
})

/** The most lines of each folder, tests and styles apart. */
const LINES: Readonly<Record<string, number>> = {
  adapters: 1_072,
  'adapters/cli': 8_189,
  'adapters/cli/certify': 1_021,
  'adapters/consent': 217,
  'adapters/control': 6_708,
  'adapters/dashboard': 8_958,
  'adapters/http': 4_102,
  'adapters/scenarios': 1_856,
  'adapters/storage': 1_891,
  'adapters/testing': 1_268,
  'adapters/webhooks': 763,
  core: 17_458,
  'json-schema': 2_790,
  resources: 8_439,
  src: 2_010,
}

/** The most files that each measured request runs through, and calls from one file into another: `npm run shape`. */
const PASSAGES: Readonly<Record<string, { readonly files: number; readonly switches: number }>> = {
  'a page of users': { files: 50, switches: 139 },
  'a batch is created': { files: 70, switches: 266 },
}

const OVER_BUDGET =
  'make it smaller; a change that needs more raises the number in the same commit and says there why'

test('no folder has more lines than its budget', () => {
  const lines: Record<string, number> = {}
  for (const { path, text } of sourceFiles('.')) {
    const folder = folderOf(path)
    lines[folder] = (lines[folder] ?? 0) + linesOf(text)
  }
  expect(Object.keys(lines).sort(), 'give each folder a budget').toEqual(Object.keys(LINES).sort())
  const over = Object.entries(lines).filter(([folder, count]) => count > (LINES[folder] ?? 0))
  expect(
    over.map(([folder, count]) => `${folder}: ${count} lines, at most ${LINES[folder]}`),
    OVER_BUDGET,
  ).toEqual([])
})

test('the two measured requests run through no more files and calls between files than their budgets', async () => {
  const passages = Object.entries(await requestPassages('.'))
  expect(passages.map(([request]) => request)).toEqual(Object.keys(PASSAGES))
  const over = passages.filter(([request, { files, switches }]) => {
    const most = PASSAGES[request]
    return most === undefined || files.length > most.files || switches > most.switches
  })
  expect(
    over.map(
      ([request, { files, switches }]) =>
        `${request}: ${files.length} files and ${switches} switches, at most ${JSON.stringify(PASSAGES[request])}`,
    ),
    OVER_BUDGET,
  ).toEqual([])
})

/** The folder in whose budget a file is: each adapter has its own, and so has certification. */
function folderOf(path: string): string {
  if (path.startsWith('adapters/cli/certify/')) return 'adapters/cli/certify'
  const [layer = '', module = '', ...rest] = path.split('/')
  if (module === '') return 'src'
  return layer === 'adapters' && rest.length > 0 ? `${layer}/${module}` : layer
}

function forbidden(path: string, target: string): string | undefined {
  const from = part(path)
  if (target.startsWith('npm:')) return forbiddenPackage(path, target.slice(4))
  const to = part(target)
  if (from.word === 'root') return undefined
  if (from.word === 'core') return to.word === 'core' ? undefined : 'core imports core only'
  if (from.word === 'json-schema') {
    const isAllowed = to.word === 'json-schema' || JSON_SCHEMA_IMPORTS.includes(target)
    return isAllowed ? undefined : `json-schema imports ${JSON_SCHEMA_IMPORTS.join(', ')} only`
  }
  if (to.word === 'core') return undefined
  if (from.word === 'resources') return resourceMay(path, from.module, target, to)
  if (to.word === 'adapters' && (from.module === to.module || isShared(to.module))) return undefined
  if (isUser(from.module) && (ENTRY_POINTS.includes(target) || target.startsWith(CLIENT))) return undefined
  return 'an adapter imports core and itself; emulator.ts passes it what it needs of others'
}

// The command line, the test library and the dashboard are users of the emulator: they start it and call it.
const isUser = (module: string) => ['cli', 'testing', 'dashboard'].includes(module)
const JSON_SCHEMA_IMPORTS = ['core/json.ts', 'core/keeping.ts', 'core/random.ts', 'core/regex.ts']
// Users may also ask which process uses a data folder, and whether it still runs.
const ENTRY_POINTS = [
  'emulator.ts',
  'index.ts',
  'documents.ts',
  'options.ts',
  'adapters/storage/lock.ts',
  'adapters/storage/process-identity.ts',
]
const CLIENT = 'adapters/control/client/'

function resourceMay(path: string, module: string, target: string, to: { word: string; module: string }) {
  if (to.word === 'json-schema') return undefined
  if (to.word !== 'resources') return 'a resource imports core, json-schema and itself'
  if (path === 'service/index.ts' || module === to.module) return undefined
  // A module of one file may be imported; of a module with a folder, only its schema.ts.
  if (target.split('/').length === 2 || target.endsWith('/schema.ts')) return undefined
  return 'of another module only schema.ts may be imported'
}

// A single file directly in `adapters` is shared by all adapters, for example the owner of timers or the reader of fixtures.
function isShared(module: string): boolean {
  return module.endsWith('.ts')
}

function forbiddenPackage(path: string, name: string): string | undefined {
  const { word, module } = part(path)
  if (word === 'root') return undefined
  if (word === 'core') {
    if (name.startsWith('@faker-js/faker')) {
      return ['core/random.ts', 'core/state/collection.ts', 'core/state/starting-state.ts'].includes(path)
        ? undefined
        : 'faker is loaded by random.ts alone'
    }
    return CORE_PACKAGES.includes(name) ? undefined : `core may use ${CORE_PACKAGES.join(', ')}`
  }
  if (word === 'json-schema') {
    return JSON_SCHEMA_PACKAGES.includes(name)
      ? undefined
      : `json-schema may use ${JSON_SCHEMA_PACKAGES.join(', ')}`
  }
  if (word === 'resources') {
    const allowed = [...RESOURCE_PACKAGES, ...(MODULE_PACKAGES[module] ?? [])]
    return allowed.some((each) => name === each || name.startsWith(`${each}/`))
      ? undefined
      : `${module} may use ${allowed.join(', ')}`
  }
  if (name.startsWith('node:')) return undefined
  const allowed = ADAPTER_PACKAGES[module] ?? []
  return allowed.some((each) => name === each || name.startsWith(`${each}/`))
    ? undefined
    : `${module} may use ${allowed.join(', ')}`
}

function part(path: string): { readonly word: string; readonly module: string } {
  const [word = '', module = ''] = path.split('/')
  return ['core', 'resources', 'json-schema', 'adapters'].includes(word)
    ? { word, module }
    : { word: 'root', module: word }
}

function readSources(root: string): Source[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.test.ts'))
    .map((path) => {
      const code = withoutComments(readFileSync(join(root, path), 'utf8'))
      return { path, code, imports: importsOf(path, code) }
    })
}

function importsOf(path: string, code: string): string[] {
  const statements = code.matchAll(/^(?:import|export)\b[^'"`;=(]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm)
  const calls = code.matchAll(/\bimport\(\s*'([^']+)'/g)
  return [...statements, ...calls].map(([, from, alone]) => {
    const target = from ?? alone ?? ''
    return target.startsWith('.') ? normalize(join(dirname(path), target)) : `npm:${target}`
  })
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '')
}
