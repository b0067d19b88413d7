import { type Issue, isObject, type JsonObject } from '../../kernel/json.ts'
import { readFixtures, SHIPPED_WORLDS, shippedFile } from '../fixtures.ts'
import { type LocatedIssue, readJsonFile } from './json-files.ts'
import { lineOfPointer } from './json-lines.ts'

/** Something wrong with fixtures: the file that has it, and where in it. */
export interface FixturesIssue extends LocatedIssue {
  readonly file: string
}

/**
 * Finds the lines of what is wrong with fixtures. Issues of a document that extends another are about the two merged: in
 * each collection its own records come last, behind those of the other.
 */
export async function locateFixtures(source: string, issues: readonly Issue[]): Promise<FixturesIssue[]> {
  const file = fileOf(source)
  const read = await readJsonFile(file)
  if ('issues' in read) return read.issues.map((issue) => ({ ...issue, file: source }))
  const offsets = await inheritedCounts(source, read.document)
  return issues.map((issue) => {
    const own = ownPointer(issue.pointer, offsets)
    if (own === undefined)
      return { ...issue, file: `${read.document.extends}, extended by ${source}`, line: 0 }
    return { ...issue, file: source, pointer: own, line: lineOfPointer(read.text, own) }
  })
}

/** The file behind the name of a shipped world, or the path itself. */
export function fileOf(source: string): string {
  const shipped = SHIPPED_WORLDS.some((world) => world === source)
  return shipped ? shippedFile('fixtures', `${source}.json`) : source
}

/** By collection, how many records of the merged document come from the extended one. */
type Offsets = ReadonlyMap<string, number>

async function inheritedCounts(source: string, document: JsonObject): Promise<Offsets> {
  if (document.extends === undefined) return new Map()
  // What cannot be read as a whole has its issues in this file's own shape, which no record precedes.
  const merged = await readFixtures(source).catch(() => undefined)
  return new Map(
    Object.entries(merged?.collections ?? {}).map(([name, records]) => [
      name,
      lengthOf(records) - ownRecords(document, name),
    ]),
  )
}

function ownRecords({ organization, collections }: JsonObject, name: string): number {
  const own = isObject(collections) && Object.hasOwn(collections, name) ? lengthOf(collections[name]) : 0
  return name === 'organizations' && organization !== undefined ? 1 : own
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0
}

// Undefined when the record stands in the extended document.
function ownPointer(merged: string, offsets: Offsets): string | undefined {
  const [, collection, index, rest = ''] = /^\/collections\/([^/]+)\/(\d+)(\/.*)?$/.exec(merged) ?? []
  if (collection === undefined || index === undefined) return merged
  const own = Number(index) - (offsets.get(collection) ?? 0)
  return own < 0 ? undefined : `/collections/${collection}/${own}${rest}`
}
