import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

/** One source file: its path below `src`, its text without comments, and what it imports. */
interface Source {
  readonly path: string
  readonly code: string
  readonly imports: readonly string[]
}

const sources = readSources('src')

/** The packages that each part of the house may use. Builtins of Node are named where a part needs them. */
const KERNEL_PACKAGES = ['zod', 'fastest-levenshtein', 'tinyqueue', 're2js', 'node:crypto', 'node:module']
const RESOURCE_PACKAGES = ['zod', 'picomatch', 'node:crypto', 'node:net']
const ROOM_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'batch-predictions': ['ajv', 'ajv-formats', 'node:module'],
  agents: ['croner', 'node:module'],
}
const DOOR_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  http: ['express', 'fastest-levenshtein', 'structured-headers'],
  scenarios: ['chokidar', 'jiti', 'zod'],
  control: ['express', 'zod'],
  disk: ['lowdb', 'chokidar'],
  cli: ['commander', 'pino', 'pino-pretty', 'zod'],
  testing: ['vitest', '@playwright/test', 'zod'],
}

/** Calls that have exactly one home. */
const BANNED: readonly { readonly call: RegExp; readonly home: RegExp; readonly instead: string }[] = [
  {
    call: /\bDate\.now\(/,
    home: /^kernel\/time\/clock\.ts$/,
    instead: 'use the `now` that handlers are given, or clock.now',
  },
  {
    call: /\bnew Date\(\)/,
    home: /^$/,
    instead: 'use the `at` that handlers are given, or formatInstant(now)',
  },
  {
    call: /\bsetTimeout\(|\bsetInterval\(/,
    home: /^doors\/realtime\.ts$/,
    instead: 'schedule an event, or take `later` from doors/realtime.ts',
  },
  {
    call: /\bMath\.random\(|\brandomUUID\(/,
    home: /^kernel\/random\.ts$/,
    instead: 'use chance(...labels), newId() or newUuid()',
  },
  {
    call: /\bprocess\.env\b/,
    home: /^doors\/(cli\/options|testing\/environment)\.ts$/,
    instead: 'add an option to doors/cli/options.ts',
  },
  {
    call: /\bconsole\./,
    home: /^doors\/cli\//,
    instead: 'use the logger that the composition root hands on',
  },
]

test('no file reaches for time, chance, timers, the environment or the console outside its one owner', () => {
  const found = sources.flatMap(({ path, code }) =>
    BANNED.filter(({ call, home }) => call.test(code) && !home.test(path)).map(
      ({ call, instead }) => `${path}: ${call.source} is banned here: ${instead}`,
    ),
  )
  expect(found).toEqual([])
})

test('imports follow the house: kernel below, resources and doors beside each other, emulator.ts on top', () => {
  const found = sources.flatMap(({ path, imports }) =>
    imports.flatMap((target) => {
      const reason = forbidden(path, target)
      return reason === undefined ? [] : [`${path} imports ${target}: ${reason}`]
    }),
  )
  expect(found).toEqual([])
})

test('there is no circle of imports, types included', () => {
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

test('the three words and the composition root are all there is below src', () => {
  const top = new Set(sources.map(({ path }) => path.split('/')[0]))
  expect([...top].sort()).toEqual([
    'doors',
    'emulator.ts',
    'index.ts',
    'kernel',
    'options.ts',
    'resources',
    'sandbox-maker.ts',
    'scenario-checks.ts',
  ])
})

test('a file that needs more than 400 lines holds a second concept that wants a file of its own', () => {
  const long = sources.filter(({ code }) => code.split('\n').length > 400).map(({ path }) => path)
  expect(long).toEqual([])
})

function forbidden(path: string, target: string): string | undefined {
  const from = part(path)
  if (target.startsWith('npm:')) return forbiddenPackage(path, target.slice(4))
  const to = part(target)
  if (from.word === 'root') return undefined
  if (from.word === 'kernel')
    return to.word === 'kernel' ? undefined : 'the kernel stands on nothing but itself'
  if (to.word === 'kernel') return undefined
  if (from.word === 'resources') return resourceMay(path, from.room, target, to)
  if (to.word === 'doors' && (from.room === to.room || isSharedDoor(to.room))) return undefined
  if (isUser(from.room) && (ENTRANCES.includes(target) || target.startsWith(CLIENT))) return undefined
  return 'a door knows the kernel and itself; what it needs of others is handed to it by emulator.ts'
}

// The command line and the test library are users of the emulator: they start it, and ask it things.
const isUser = (room: string) => ['cli', 'testing'].includes(room)
const ENTRANCES = ['emulator.ts', 'index.ts', 'options.ts']
const CLIENT = 'doors/control/client/'

function resourceMay(path: string, room: string, target: string, to: { word: string; room: string }) {
  if (to.word !== 'resources') return 'a resource knows the kernel and itself'
  if (path === 'resources/index.ts' || room === to.room) return undefined
  // Rooms of one file are their own schema; a room with a folder shares its schema.ts alone.
  if (target.split('/').length === 2 || target.endsWith('/schema.ts')) return undefined
  return 'of another room only schema.ts may be imported'
}

// What is a single file among the doors is for every door: the owner of timers, the reader of fixtures.
function isSharedDoor(room: string): boolean {
  return room.endsWith('.ts')
}

function forbiddenPackage(path: string, name: string): string | undefined {
  const { word, room } = part(path)
  if (word === 'root') return undefined
  if (word === 'kernel') {
    if (name.startsWith('@faker-js/faker')) {
      return ['kernel/random.ts', 'kernel/state/collection.ts', 'kernel/state/starting-world.ts'].includes(
        path,
      )
        ? undefined
        : 'faker is loaded by random.ts alone'
    }
    return KERNEL_PACKAGES.includes(name) ? undefined : `the kernel may use ${KERNEL_PACKAGES.join(', ')}`
  }
  if (word === 'resources') {
    const allowed = [...RESOURCE_PACKAGES, ...(ROOM_PACKAGES[room] ?? [])]
    return allowed.some((each) => name === each || name.startsWith(`${each}/`))
      ? undefined
      : `${room} may use ${allowed.join(', ')}`
  }
  if (name.startsWith('node:')) return undefined
  const allowed = DOOR_PACKAGES[room] ?? []
  return allowed.some((each) => name === each || name.startsWith(`${each}/`))
    ? undefined
    : `${room} may use ${allowed.join(', ')}`
}

function part(path: string): { readonly word: string; readonly room: string } {
  const [word = '', room = ''] = path.split('/')
  return ['kernel', 'resources', 'doors'].includes(word) ? { word, room } : { word: 'root', room: word }
}

function readSources(root: string): Source[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
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
