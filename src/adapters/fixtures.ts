import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { z } from 'zod'
import { didYouMean } from '../core/did-you-mean.ts'
import { objectAs, schemaKey } from '../core/fields.ts'
import { FixturesError } from '../core/fixtures-error.ts'
import { IssueList } from '../core/issue-list.ts'
import { type Immutable, isObject, type JsonObject } from '../core/json.ts'
import { lineAndColumn, syntaxIssue } from '../core/json-text.ts'
import { parseKeepingDigits } from '../core/request/exact-numbers.ts'
import { keysIn, type PlainKey } from '../core/request/plain-keys.ts'
import { endpointOf, type StubDraft } from '../core/scenarios/stub.ts'
import type { Fixtures, ReadyRecords } from '../core/state/starting-state.ts'
import { strictObject } from '../core/strict-input.ts'
import { parsed, UNCOMPILED, zodIssues } from '../core/zod-issues.ts'
import { shippedFile } from './package.ts'
import { specialFile } from './special-file.ts'
import { decodedText, fileBytes } from './text.ts'

/** The names of the fixtures in this package. */
export const SHIPPED_FIXTURES = ['empty', 'demo', 'large'] as const

const text = () => z.string({ error: 'must be a string' }).optional()

/** A record whose collection checks it. */
type Fields = Readonly<Record<string, unknown>>

/** The shape of a fixtures document. Its records are validated later, with the whole starting state. */
export const fixturesDocument = strictObject({
  $schema: schemaKey(),
  /** The fixtures that it is based on: `empty`, `demo`, `large`, or the path of a file. */
  extends: text(),
  description: text(),
  organization: objectAs<Fields>().optional(),
  /** Number of records to generate, by collection. */
  generate: objectAs<Readonly<Record<string, number>>>().optional(),
  collections: objectAs<Readonly<Record<string, readonly Fields[]>>>().optional(),
  /** Records of collections of your own, which your endpoints use. */
  own: objectAs<Readonly<Record<string, readonly Fields[]>>>().optional(),
  stubs: z.array(z.custom<StubDraft>(), { error: 'must be an array of stubs' }).default([]),
})

/** A starting state, or an addition to one. */
export type FixturesDocument = Immutable<z.input<typeof fixturesDocument>>

/** The files that a starting state was read from: path to SHA-256 of the bytes, in hexadecimal digits. */
type FilesRead = Map<string, string>

/** Fixtures, and the files that they were read from. */
export interface FixturesRead {
  readonly fixtures: Fixtures
  readonly files: FilesRead
}

/** Reads fixtures; returns those that were read before while all of their files are unchanged. */
export async function readAgain(source: string | JsonObject, before?: FixturesRead): Promise<FixturesRead> {
  if (before !== undefined && areUnchanged(before.files)) return before
  const files: FilesRead = new Map()
  return { fixtures: await readFixtures(source, files), files }
}

/** Whether all files still have the bytes that were read. False for an empty map, because nothing can be compared. */
export function areUnchanged(files: FilesRead): boolean {
  for (const [file, digest] of files) {
    try {
      if (digestOf(readFileSync(file)) !== digest) return false
    } catch {
      return false
    }
  }
  return files.size > 0
}

/**
 * Reads a starting state from the name of shipped fixtures, the path of a JSON file, or the document itself. Follows
 * `extends`: records of the extending document replace records with the same id. Throws {@link FixturesError}.
 * @param files filled with the files that were read
 */
export async function readFixtures(
  source: string | JsonObject,
  files?: FilesRead,
  seen: readonly string[] = [],
): Promise<Fixtures> {
  const { name, document } =
    typeof source === 'string'
      ? await readDocument(source, seen.at(-1), files)
      : { name: '(given)', document: source }
  if (!isObject(document)) throw new FixturesError(name, [{ pointer: '', detail: 'must be a JSON object' }])
  const { data, error } = parsed(fixturesDocument, document, UNCOMPILED)
  const issues = error === undefined ? new IssueList() : zodIssues(error, '')
  if (seen.includes(name)) issues.push({ pointer: '/extends', detail: `forms a cycle that contains ${name}` })
  if (data === undefined || issues.length > 0) throw new FixturesError(name, issues)
  const { organization, collections = {}, generate = {}, stubs } = data
  const organizations = [...(collections.organizations ?? []), ...(organization ? [organization] : [])]
  const own = {
    collections: organizations.length === 0 ? collections : { ...collections, organizations },
    generate,
    stubs,
    ...(data.own && { own: data.own }),
  }
  if (data.extends === undefined) return source === 'demo' ? { ...own, ready: readyRecords } : own
  return merge(await readFixtures(relativeTo(name, data.extends), files, [...seen, name]), own)
}

/** The records that `demo` generates for the default seed. `npm run fixtures` writes the file. */
function readyRecords(): ReadyRecords {
  ready ??= JSON.parse(readFileSync(shippedFile('fixtures', 'demo.seed-1.json'), 'utf8')) as ReadyRecords
  return ready
}

// Kept for the next reset: most of its texts are part of the starting state anyway.
let ready: ReadyRecords | undefined

async function readDocument(
  source: string,
  extendedBy: string | undefined,
  files: FilesRead | undefined,
): Promise<{ readonly name: string; readonly document: unknown }> {
  const shipped = SHIPPED_FIXTURES.find((sandbox) => sandbox === source)
  const file = shipped === undefined ? resolve(source) : shippedFile('fixtures', `${shipped}.json`)
  const special = await specialFile(file)
  if (special !== undefined) unusable(file, special)
  let bytes: Buffer
  try {
    bytes = fileBytes(file, (problem) => unusable(file, problem))
  } catch (error) {
    if (error instanceof FixturesError) throw error
    const extended = extendedBy === undefined ? '' : `, which ${extendedBy} extends`
    const detail = `cannot be read${extended}; give the path of a JSON file, or one of ${SHIPPED_FIXTURES.join(', ')}.${didYouMean(source, SHIPPED_FIXTURES)}`
    unusable(file, detail)
  }
  files?.set(file, digestOf(bytes))
  return { name: file, document: parse(file, bytes) }
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function parse(file: string, bytes: Buffer): unknown {
  const text = decodedText(bytes, (problem) => unusable(file, problem))
  const issue = syntaxIssue(text)
  // A record without contract may have longer integers than a double.
  if (issue === undefined) return parseKeepingDigits(text)
  const { line, column } = lineAndColumn(text, issue.offset)
  return unusable(file, `is not JSON: line ${line}, column ${column}: ${issue.detail}`)
}

function unusable(file: string, detail: string): never {
  throw new FixturesError(file, [{ pointer: '', detail }])
}

function relativeTo(file: string, target: string): string {
  const shipped = SHIPPED_FIXTURES.some((sandbox) => sandbox === target)
  return shipped || isAbsolute(target) || file === '(given)' ? target : join(dirname(file), target)
}

function merge(base: Fixtures, own: Fixtures): Fixtures {
  const collections = new Map(Object.entries(base.collections))
  for (const [name, records] of Object.entries(own.collections)) {
    const below = collections.get(name)
    const both = Array.isArray(below) && Array.isArray(records)
    collections.set(name, both ? replacing(below, records, ({ id }) => [id]) : records)
  }
  const generate = { ...base.generate, ...own.generate }
  // A stub replaces the stub with the same id and the stub with the same endpoint (method and path).
  const stubs = replacing(base.stubs as readonly unknown[], own.stubs as readonly unknown[], (stub) => [
    endpointOf(stub),
    ...(stub.id === undefined ? [] : [stub.id]),
  ])
  const ownRecords = { ...(base.own as object), ...(own.own as object) }
  return {
    collections: Object.fromEntries(collections),
    generate,
    stubs,
    ...(Object.keys(ownRecords).length > 0 && { own: ownRecords }),
  }
}

// Own entries come first, so that a JSON pointer to one of them is also correct in the extending document.
function replacing(
  base: readonly unknown[],
  own: readonly unknown[],
  keysOf: (entry: JsonObject) => readonly unknown[],
): unknown[] {
  const keys = (entry: unknown) => (isObject(entry) ? keysOf(entry) : [])
  const replaced = new Set(own.flatMap(keys))
  return [...own, ...base.filter((entry) => !keys(entry).some((key) => replaced.has(key)))]
}

/** The API keys that a starting state contains in plain text. Throws `FixturesError` when it cannot be read. */
export async function writtenKeys(fixtures: string | JsonObject): Promise<PlainKey[]> {
  const { collections } = await readFixtures(fixtures)
  return keysIn(collections.api_keys)
}
