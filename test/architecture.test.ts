import { expect, test } from 'vitest'
import { apiKeys } from '../src/core/request/auth.ts'
import { deliveries, webhooks } from '../src/core/webhooks/records.ts'
import { workspaceService } from '../src/emulator/service.ts'
import { FOLDERS, folderOf, importsOf, withoutComments } from './shape/folders.ts'
import { requestPassages } from './shape/requests.ts'
import { declaredTwice, linesOf, sourceFiles } from './shape/source.ts'

/** The packages of the adapters, module by module. */
const ADAPTER_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  scenarios: ['chokidar', 'jiti', 'zod'],
  storage: ['lowdb', 'chokidar'],
  'fixtures.ts': ['zod'],
}

const sources = sourceFiles('.').map((file) => ({
  path: file.path,
  code: withoutComments(file.text),
  imports: importsOf(file),
}))

/** Calls that are allowed in one place only. */
const BANNED: readonly { readonly call: RegExp; readonly home: RegExp; readonly instead: string }[] = [
  {
    call: /\bDate\.now\(|\bperformance\.now\b/,
    home: /^(core\/time\/real|dashboard\/browser)\.ts$/,
    instead: 'use the `now` that handlers are given, clock.now, or elapsedTime for how long something took',
  },
  {
    call: /\bnew Date\(\)/,
    home: /^$/,
    instead: 'use the `at` that handlers are given, or formatInstant(now)',
  },
  {
    call: /\breal\.set(?:Timeout|Interval)\(/,
    home: /^core\/time\/realtime\.ts$/,
    instead: 'schedule an event, or take `later` from core/time/realtime.ts',
  },
  {
    call: /(?<!\breal\s*\.)\b(?:(?:set|clear)(?:Timeout|Interval|Immediate)|queueMicrotask)\(/,
    home: /^dashboard\//,
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
    home: /^(terminal\/options|testing\/running|dashboard\/snippets)\.ts$/,
    instead: 'add an option to terminal/options.ts',
  },
  {
    call: /\bconsole\./,
    home: /^(cli|terminal|tools)\//,
    instead: 'use the logger that the composition root hands on',
  },
  {
    call: /\bsetFlagsFromString\b|\bprocess\.(?:on|once|umask|chdir)\(|\bprocess\.title\b|\bError\.(?:stackTraceLimit|prepareStackTrace)\b|\bglobalAgent\b|\bsetGlobalDispatcher\b/,
    home: /^(cli|terminal|tools)\//,
    instead: 'the library runs in the process of its user, whose flags, listeners and agents it leaves alone',
  },
  {
    call: /\.(?:push|unshift)\(\.\.\.|\bMath\.(?:max|min)\((?:[^()\n]*, )?\.\.\.|\bfromC(?:harCode|odePoint)\(\.\.\./,
    home: /^$/,
    instead: 'a call with more than about 100,000 arguments overflows the stack: use a loop, or `reduce`',
  },
  {
    call: /^import \* as z from 'zod'/m,
    home: /^cli\/init\/templates\//,
    instead:
      "the hundreds of names of a namespace are copied at each start: use `import { z } from 'zod'`, which copies none",
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

test('a folder imports only folders above it in the table of test/shape/folders.ts', () => {
  const found = sources.flatMap(({ path, imports }) =>
    imports.flatMap((target) => {
      const reason = forbidden(path, target)
      return reason === undefined ? [] : [`${path} imports ${target}: ${reason}`]
    }),
  )
  expect(found).toEqual([])
})

test('core does not depend on resources: its code contains no name of a collection and no error code of a resource', () => {
  const outside = sources.filter(({ path }) => !path.startsWith('core/')).map(({ code }) => code)
  const codes = outside.flatMap((code) =>
    [...code.matchAll(/declareError\('(\w+)'/g)].map(([, name]) => name),
  )
  expect(codes).toContain('results_gone')
  const ownNames = [apiKeys.name, webhooks.name, deliveries.name]
  const names = [...workspaceService.collections.keys()].filter((name) => !ownNames.includes(name))
  // A name in a text or a path: the word alone may be one of plain English.
  const words = new RegExp(
    `batch|\\b(?:${codes.join('|')})\\b|["'\`/](?:${names.join('|')})(?=["'\`/.])`,
    'i',
  )
  const found = sources.flatMap(({ path, code }) =>
    path.startsWith('core/') ? [[path, words.exec(code)?.[0]]] : [],
  )
  expect(
    found.flatMap(([path, word]) =>
      word === undefined ? [] : [`${path} contains ${word}: let the resource declare it, and read that`],
    ),
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
    const isOutside = path.startsWith('server/http/') && !path.startsWith('server/http/faults/')
    return isOutside && imports.some((target) => target.startsWith('server/http/faults/'))
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

test('src contains only the folders and entry points of the table', () => {
  const outside = sources.filter(({ path }) => folderOf(path) < 0).map(({ path }) => path)
  expect(outside, 'put it into a folder of test/shape/folders.ts').toEqual([])
  const empty = FOLDERS.filter((_, n) => sources.every(({ path }) => folderOf(path) !== n))
  expect(empty.map(({ name }) => name)).toEqual([])
})

test('no exported name is declared in two files', () => {
  const found = [...declaredTwice(sourceFiles('.'))].map(([name, paths]) => `${name}: ${paths.join(', ')}`)
  expect(found, 'rename one, or declare it once').toEqual([])
})

test('a sandbox shows at most 25 members, and none of them can be assigned from outside', () => {
  const { code = '' } = sources.find(({ path }) => path === 'core/sandboxes/sandbox.ts') ?? {}
  const body = code.slice(
    code.indexOf('class Sandbox {'),
    code.indexOf('\n}', code.indexOf('class Sandbox {')),
  )
  const members = [...body.matchAll(/^ {2}(readonly |get |async )?([a-z]\w*)([(:<]| =)/gm)]
  const names = members.flatMap(([, , name = '']) => (name === 'constructor' ? [] : [name]))
  expect(names).toEqual(expect.arrayContaining(['store', 'limits', 'settings', 'commit']))
  expect(names.length, 'put it into an object of one subject, or make it a function').toBeLessThanOrEqual(25)
  const assignable = members.filter(([, how, , mark]) => how === undefined && mark !== '(')
  expect(assignable.map(([, , name]) => name)).toEqual([])
})

test('no file of src has more than 400 lines of code', () => {
  const long = sources.filter(({ code }) => code.split('\n').length > 400).map(({ path }) => path)
  expect(long).toEqual([])
})

/** The most lines of each folder, tests and styles apart: its size with room for one more feature. */
const LINES: Readonly<Record<string, number>> = {
  adapters: 4_950,
  cli: 3_150,
  'control-client': 2_000,
  core: 20_400,
  dashboard: 8_600,
  emulator: 1_850,
  endpoints: 1_500,
  'json-schema': 3_000,
  server: 750,
  'server/control': 5_100,
  'server/http': 4_300,
  service: 9_450,
  src: 750,
  terminal: 2_050,
  testing: 1_150,
  tools: 5_300,
  'tools/certify': 1_300,
}

/** The most files that each measured request runs through, and calls from one file into another: `npm run shape`. */
const PASSAGES: Readonly<Record<string, { readonly files: number; readonly switches: number }>> = {
  'a page of users': { files: 46, switches: 128 },
  'a batch is created': { files: 66, switches: 240 },
}

const OVER_BUDGET =
  'make it smaller; a change that needs more raises the number in the same commit and says there why'

test('no folder has more lines than its budget', () => {
  const lines: Record<string, number> = {}
  for (const { path, text } of sourceFiles('.')) {
    const folder = budgetOf(path)
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

/** The folder in whose budget a file is. */
function budgetOf(path: string): string {
  const [folder = '', ...rest] = path.split('/')
  if (rest.length === 0) return 'src'
  const within = `${folder}/${rest[0]}`
  return within in LINES ? within : folder
}

function forbidden(path: string, target: string): string | undefined {
  if (target.startsWith('npm:')) return forbiddenPackage(path, target.slice(4))
  const [from, to] = [folderOf(path), folderOf(target)]
  if (to > from)
    return `a folder imports only folders above it: ${FOLDERS.slice(0, from + 1)
      .map(({ name }) => name)
      .join(', ')}`
  const [folder, module] = path.split('/')
  if (folder === 'json-schema' && target.startsWith('core/') && !JSON_SCHEMA_IMPORTS.includes(target))
    return `json-schema imports ${JSON_SCHEMA_IMPORTS.join(', ')} only`
  if (folder === 'service' && target.startsWith('service/')) return resourceMay(path, target)
  if (folder !== 'adapters' || !target.startsWith('adapters/')) return undefined
  // A single file directly in `adapters` is shared by all of them, for example the reader of fixtures.
  const other = target.split('/')[1] ?? ''
  return other === module || other.endsWith('.ts')
    ? undefined
    : 'an adapter imports core and itself; emulator.ts passes it what it needs of others'
}

const JSON_SCHEMA_IMPORTS = [
  'core/json.ts',
  'core/memoize.ts',
  'core/load.ts',
  'core/random.ts',
  'core/regex.ts',
]

function resourceMay(path: string, target: string): string | undefined {
  if (path === 'service/index.ts' || path.split('/')[1] === target.split('/')[1]) return undefined
  // A module of one file may be imported; of a module with a folder, only its schema.ts.
  if (target.split('/').length === 2 || target.endsWith('/schema.ts')) return undefined
  return 'of another module only schema.ts may be imported'
}

/** The files of core that may load faker: `random.ts`, and the two that the starting state needs. */
const WITH_FAKER = ['core/random.ts', 'core/state/collection.ts', 'core/state/starting-state.ts']

function forbiddenPackage(path: string, name: string): string | undefined {
  const { name: folder, packages } = FOLDERS[folderOf(path)] ?? { name: 'src', packages: [] }
  const allows = (each: string) => name === each || name.startsWith(each.endsWith(':') ? each : `${each}/`)
  if (folder === 'core' && name.startsWith('@faker-js/faker') && !WITH_FAKER.includes(path))
    return 'faker is loaded by random.ts alone'
  if (name.startsWith('croner') && !path.startsWith('service/agents/'))
    return 'croner is used by agents alone'
  const module = path.split('/')[1] ?? ''
  const allowed = folder === 'adapters' ? [...(ADAPTER_PACKAGES[module] ?? []), 'node:'] : packages
  return allowed.some(allows) ? undefined : `${folder} may use ${allowed.join(', ')}`
}
