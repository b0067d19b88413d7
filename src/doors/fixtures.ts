import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { didYouMean } from '../kernel/assumptions.ts'
import { type Issue, isObject, type JsonObject, pointer } from '../kernel/json.ts'
import { placeOf } from '../kernel/scenario/stub.ts'
import type { Fixtures } from '../kernel/state/starting-world.ts'

/** The worlds that are shipped. */
export const SHIPPED_WORLDS = ['empty', 'demo', 'large'] as const

/** A fixtures document that could not be used: the file, and everything that is wrong with it. */
export class FixturesError extends Error {
  readonly file: string
  readonly issues: readonly Issue[]

  constructor(file: string, issues: readonly Issue[]) {
    super(`${file}: ${issues.map(({ pointer, detail }) => `${pointer || '/'}: ${detail}`).join('\n  ')}`)
    this.name = 'FixturesError'
    this.file = file
    this.issues = issues
  }
}

const KEYS = ['extends', 'description', 'organization', 'generate', 'collections', 'stubs']

/**
 * Reads a starting world: the name of a shipped one, the path of a JSON file, or the document itself. `extends` is
 * followed; records of the extending document replace those with the same id. Throws {@link FixturesError}.
 */
export async function readFixtures(
  source: string | JsonObject,
  seen: readonly string[] = [],
): Promise<Fixtures> {
  const { name, document } =
    typeof source === 'string'
      ? await readDocument(source, seen.at(-1))
      : { name: '(given)', document: source }
  const issues = checkShape(document)
  if (seen.includes(name)) issues.push({ pointer: '/extends', detail: `leads back to ${name}` })
  if (issues.length > 0) throw new FixturesError(name, issues)
  const own = ownFixtures(document)
  if (typeof document.extends !== 'string') return own
  return merge(await readFixtures(relativeTo(name, document.extends), [...seen, name]), own)
}

/** Where the shipped worlds are: beside `src` in a checkout, beside `dist` in an installed package. */
export function shippedFile(...path: readonly string[]): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'fixtures', 'demo.json')) && dirname(folder) !== folder)
    folder = dirname(folder)
  return join(folder, ...path)
}

async function readDocument(
  source: string,
  extendedBy: string | undefined,
): Promise<{ readonly name: string; readonly document: JsonObject }> {
  const shipped = SHIPPED_WORLDS.find((world) => world === source)
  const file = shipped === undefined ? resolve(source) : shippedFile('fixtures', `${shipped}.json`)
  const text = await readFile(file, 'utf8').catch(() => {
    throw new FixturesError(file, [
      {
        pointer: '',
        detail: `cannot be read${extendedBy === undefined ? '' : `, which ${extendedBy} extends`}; give the path of a JSON file, or one of ${SHIPPED_WORLDS.join(', ')}.${didYouMean(source, SHIPPED_WORLDS)}`,
      },
    ])
  })
  return { name: file, document: parse(file, text) }
}

function parse(file: string, text: string): JsonObject {
  try {
    const document: unknown = JSON.parse(text)
    if (isObject(document)) return document
  } catch (error) {
    throw new FixturesError(file, [{ pointer: '', detail: `is not JSON: ${(error as Error).message}` }])
  }
  throw new FixturesError(file, [{ pointer: '', detail: 'must be a JSON object' }])
}

function checkShape(document: JsonObject): Issue[] {
  const unknown = Object.keys(document).filter((key) => !KEYS.includes(key))
  const shapes = ['organization', 'generate', 'collections'].filter(
    (key) => document[key] !== undefined && !isObject(document[key]),
  )
  const texts = ['extends', 'description'].filter(
    (key) => document[key] !== undefined && typeof document[key] !== 'string',
  )
  const { stubs = [] } = document
  return [
    ...(Array.isArray(stubs) ? [] : [{ pointer: '/stubs', detail: 'must be an array of stubs' }]),
    ...texts.map((key) => ({ pointer: pointer(key), detail: 'must be a string' })),
    ...unknown.map((key) => ({
      pointer: pointer(key),
      detail: `is not part of a fixtures document.${didYouMean(key, KEYS)}`,
    })),
    ...shapes.map((key) => ({ pointer: pointer(key), detail: 'must be an object' })),
  ]
}

function ownFixtures({ organization, generate, collections, stubs }: JsonObject): Fixtures {
  const own: Record<string, unknown> = isObject(collections) ? { ...collections } : {}
  if (organization !== undefined) own.organizations = [organization]
  return { collections: own, generate: isObject(generate) ? generate : {}, stubs: stubs ?? [] }
}

function relativeTo(file: string, target: string): string {
  const shipped = SHIPPED_WORLDS.some((world) => world === target)
  return shipped || isAbsolute(target) || file === '(given)' ? target : join(dirname(file), target)
}

function merge(base: Fixtures, own: Fixtures): Fixtures {
  const collections = new Map(Object.entries(base.collections))
  for (const [name, records] of Object.entries(own.collections)) {
    const below = collections.get(name)
    const both = Array.isArray(below) && Array.isArray(records)
    collections.set(name, both ? mergeRecords(below, records) : records)
  }
  const generate = { ...base.generate, ...own.generate }
  const stubs = mergeStubs(base.stubs as readonly unknown[], own.stubs as readonly unknown[])
  return { collections: Object.fromEntries(collections), generate, stubs }
}

// A stub replaces the one of its id, and the one of its place.
function mergeStubs(base: readonly unknown[], own: readonly unknown[]): unknown[] {
  const keysOf = (stub: unknown): unknown[] =>
    isObject(stub) ? [placeOf(stub), ...(stub.id === undefined ? [] : [stub.id])] : []
  const replaced = new Set(own.flatMap(keysOf))
  return [...own, ...base.filter((stub) => !keysOf(stub).some((key) => replaced.has(key)))]
}

// Own records come first, so that a pointer to one of them holds in the document that it stands in.
function mergeRecords(base: readonly unknown[], own: readonly unknown[]): unknown[] {
  const idOf = (record: unknown): unknown => (isObject(record) ? record.id : undefined)
  const replaced = new Set(own.map(idOf))
  return [...own, ...base.filter((record) => !replaced.has(idOf(record)))]
}
